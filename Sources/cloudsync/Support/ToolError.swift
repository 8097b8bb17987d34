/// Why a command ends with an exit code other than 0.
enum ToolError: Error {
  /// The command line is wrong: exit code 2.
  case usage(String)
  /// The same, with the usage line of the command that was called.
  case misuse(String, usage: String)
  /// It cannot be done: exit code 1.
  case failure(String)
  /// It was done, and what was asked is not so, which has been said already: exit code 1.
  case negative
  /// It was done but for rows that the cloud or the database rejected, which have been named: exit code 3.
  case parked
}

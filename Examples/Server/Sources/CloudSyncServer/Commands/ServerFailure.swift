/// Why the program ends with an exit code other than 0.
public enum ServerFailure: Error, Sendable, Hashable {
  /// The command line is wrong: exit code 2.
  case usage(String)
  /// It cannot be done: exit code 1.
  case failure(String)
}

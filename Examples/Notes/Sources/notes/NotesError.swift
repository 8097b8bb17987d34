/// Why a command did not do what it was asked to do, in one line.
struct NotesError: Error, CustomStringConvertible {
  /// The status that the program exits with: 1, or 2 for wrong usage.
  var status: Int32 = 1
  var description: String

  init(_ description: String) { self.description = description }

  /// The command line itself is wrong.
  static func usage(_ description: String) -> NotesError {
    var error = NotesError("\(description); “notes help” shows what there is")
    error.status = 2
    return error
  }
}

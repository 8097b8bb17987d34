import CloudSyncSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The program.
@main
struct NotesTool {
  static func main() async {
    do {
      try await run(Arguments(CommandLine.arguments.dropFirst()))
    } catch {
      Output.error(error)
      exit((error as? NotesError)?.status ?? 1)
    }
  }

  /// Ends the process at once.
  static func exit(_ status: Int32) -> Never {
    #if canImport(Glibc)
    Glibc.exit(status)
    #elseif canImport(Musl)
    Musl.exit(status)
    #else
    Darwin.exit(status)
    #endif
  }

  private static func run(_ arguments: Arguments) async throws {
    switch arguments.command {
    case "help": Output.line(Arguments.help)
    case "demo":
      _ = try arguments.operands()
      try Demo(log: arguments.log).run()
    case "add":
      let text = try checkedText(try arguments.operands("the text of the note")[0])
      try await use(arguments) { Output.line("added \(try await $0.add(text))") }
    case "edit":
      let operands = try arguments.operands("the ID of a note", "its new text")
      let text = try checkedText(operands[1])
      try await use(arguments) { try await $0.edit(operands[0], text) }
      Output.line("edited \(operands[0])")
    case "delete":
      let id = try arguments.operands("the ID of a note")[0]
      try await use(arguments) { try await $0.delete(id) }
      Output.line("deleted \(id)")
    case "list":
      _ = try arguments.operands()
      try await use(arguments) { list($0) }
    case "sync":
      _ = try arguments.operands()
      try await use(arguments) { try await sync($0, arguments) }
    case "status":
      _ = try arguments.operands()
      try await use(arguments) { status($0) }
    default: throw NotesError.usage("there is no command “\(arguments.command)”")
    }
  }

  /// Opens the notes for a command, which is recorded to its end, a bad one too.
  private static func use(
    _ arguments: Arguments,
    _ body: (Notebook) async throws -> Void
  ) async throws {
    let notebook = try Notebook(arguments)
    if arguments.isVerbose { Narrator.listen(to: notebook.session) }
    do { try await body(notebook) } catch {
      try await notebook.endRecording()
      throw error
    }
    try await notebook.endRecording()
  }

  private static func checkedText(_ text: String) throws(NotesError) -> String {
    guard !text.isEmpty else { throw .usage("a note needs a text") }
    return text
  }

  private static func list(_ notebook: Notebook) {
    let parked = Set(notebook.session.state.parkedRecords.map(\.recordID.name))
    for note in notebook.notes {
      let mark = parked.contains(note.id) ? "!" : note.isUnsent ? "*" : " "
      let text = (note.text ?? "").split(separator: "\n").joined(separator: " ")
      Output.line("\(mark) \(note.id)  \(text)")
    }
  }

  private static func sync(_ notebook: Notebook, _ arguments: Arguments) async throws {
    try await notebook.sync(upTo: .seconds(arguments.waitSeconds))
    let state = notebook.session.state
    Output.line(
      "sent \(notebook.sentCount), received \(notebook.receivedCount), "
        + "\(notebook.notes.count) notes"
    )
    for parked in state.parkedRecords {
      Output.line("the cloud refuses \(parked.recordID.name): \(parked.error)")
    }
  }

  private static func status(_ notebook: Notebook) {
    let explanation = notebook.session.explain()
    let unsent = notebook.notes.count(where: \.isUnsent)
    Output.line("device: \(notebook.device)")
    Output.line("notes: \(notebook.notes.count), \(unsent) of them with unsent edits")
    Output.line("waiting operations: \(explanation.waitingOperations)")
    Output.line("parked records: \(explanation.parkedRecords)")
    Output.line("session: \(explanation)")
  }
}

/// A command of the tool, or a group of commands.
struct Command {
  /// An option that a command takes.
  struct Option {
    /// The name with its dashes.
    var name: String
    /// What its value is called in the help; nil for one that takes none.
    var value: String?
    /// What it does, in a few words.
    var help: String
    /// Whether it may be given more than once.
    var isRepeatable = false
  }

  /// The words that call it, after the tool's name.
  var path: [String]
  /// What it does, in one line.
  var summary: String
  /// What it is given besides options, as the help calls it; the last one with dots if there may be
  /// several.
  var operands: [String] = []
  var options: [Option] = []
  /// More about it, with examples.
  var discussion = ""
  var subcommands: [Command] = []
  var run: ((Arguments, Console) throws -> Void)?

  private var call: String { (["cloudsync"] + path).joined(separator: " ") }

  /// The help text.
  var help: String {
    var text = "\(summary)\n\nusage: \(call)"
    if !subcommands.isEmpty { text += " COMMAND" }
    for operand in operands { text += " \(operand)" }
    if run != nil, !options.isEmpty { text += " [OPTIONS]" }
    if !subcommands.isEmpty {
      text += "\n\ncommands:"
      text += Self.table(
        of: subcommands.map { (($0.path.last ?? ""), $0.summary) }
      )
      text += "\n\n“\(call) COMMAND --help” says more about one."
    }
    if !options.isEmpty {
      text += "\n\noptions:"
      text += Self.table(
        of: options.map { ($0.name + ($0.value.map { " \($0)" } ?? ""), $0.help) }
          + [("--help", "this text")]
      )
    }
    if !discussion.isEmpty { text += "\n\n\(discussion)" }
    return text + "\n"
  }

  private static func table(of rows: [(String, String)]) -> String {
    let width = rows.reduce(0) { max($0, $1.0.count) }
    return
      rows.map { name, help in
        "\n  \(name)\(String(repeating: " ", count: width - name.count))  \(help)"
      }
      .joined()
  }

  /// Finds the command that the arguments name, and runs it.
  func perform(with arguments: [String], console: Console) throws {
    if let first = arguments.first, ["--help", "-h", "help"].contains(first), run == nil {
      let named = subcommands.first { $0.path.last == arguments.dropFirst().first }
      return console.block((named ?? self).help)
    }
    guard let run else {
      guard let first = arguments.first else {
        throw ToolError.usage("\(call) needs a command; “\(call) --help” shows all")
      }
      guard let command = subcommands.first(where: { $0.path.last == first }) else {
        throw ToolError.usage("there is no command “\(first)”; “\(call) --help” shows all")
      }
      return try command.perform(with: Array(arguments.dropFirst()), console: console)
    }
    guard let parsed = try Arguments(arguments, for: self) else { return console.block(help) }
    try run(parsed, console)
  }
}

import CloudSyncSQLite

/// A command of the tool, or a group of commands.
struct Command {
  /// An option that a command takes.
  struct Option {
    /// The name with its dashes.
    var name: String
    /// Another name for it, short or long.
    var alias: String?
    /// What its value is called in the help; nil for one that takes none.
    var value: String?
    /// What it does, in a few words.
    var help: String
    /// The values that there are, if they can be told; shells offer them.
    var choices: [String] = []
    /// Whether it may be given more than once.
    var isRepeatable = false
    /// Whether the command does nothing without it.
    var isRequired = false
    /// Whether it is only there so that who tries it is told what to use.
    var isHidden = false

    /// The names that it goes by, the short one first.
    var names: [String] { [alias, name].compactMap { $0 }.sorted { $0.count < $1.count } }
    /// How the help shows it: its names, and what its value is called.
    var title: String { names.joined(separator: ", ") + (value.map { " \($0)" } ?? "") }
  }

  /// The words that call it, after the tool's name.
  var path: [String]
  /// What it does, in one line.
  var summary: String
  /// What it is given besides options, as the help calls it; the last one with dots if there may be
  /// several.
  var operands: [String] = []
  /// What the operands can be, if they are no files; shells offer it.
  var choices: [String] = []
  var options: [Option] = []
  /// More about it, with examples.
  var discussion = ""
  var subcommands: [Command] = []
  var run: ((Arguments, Console) throws -> Void)?

  /// The words with the tool's name.
  var call: String { (["cloudsync"] + path).joined(separator: " ") }

  /// The help text.
  var help: String { HelpText(self).text }

  /// Finds the command that the arguments name, and runs it.
  func perform(with arguments: [String], console: Console) throws {
    do { try performNamed(with: arguments, console: console) } catch ToolError.usage(let reason) {
      throw ToolError.misuse(reason, usage: HelpText(self).usage)
    }
  }

  private func performNamed(with arguments: [String], console: Console) throws {
    if let run {
      guard let parsed = try Arguments(arguments, for: self) else { return console.block(help) }
      return try run(parsed, console)
    }
    guard let first = arguments.first else {
      throw ToolError.usage("\(call) needs a command; “\(call) --help” shows all")
    }
    let rest = Array(arguments.dropFirst())
    if ["--help", "-h"].contains(first) { return console.block(help) }
    if first == "help" { return console.block(try command(named: rest).help) }
    guard first.hasPrefix("-") else {
      return try subcommand(named: first).perform(with: rest, console: console)
    }
    throw ToolError.usage(Arguments.noOption(first, of: self))
  }

  /// The names of the options that it takes and shows.
  var optionNames: [String] {
    options.filter { !$0.isHidden }.flatMap(\.names) + ["--help"]
      + (path.isEmpty ? ["--version"] : [])
  }

  /// The command that words name, as in `help log show`.
  private func command(named words: [String]) throws -> Command {
    guard let first = words.first, !["help", "--help", "-h"].contains(first) else { return self }
    return try subcommand(named: first).command(named: Array(words.dropFirst()))
  }

  private func subcommand(named name: String) throws -> Command {
    let names = subcommands.compactMap(\.path.last) + ["help"]
    if let found = subcommands.first(where: { $0.path.last == name }) { return found }
    let hint = Suggestion.text(for: name, among: names)
    let reason =
      subcommands.isEmpty
      ? "\(call) has no commands, and “\(name)” is none of them"
      : "there is no command “\(name)”\(hint.isEmpty ? "; “\(call) --help” shows all" : hint)"
    // Also where “help” names it from above.
    throw ToolError.misuse(reason, usage: HelpText(self).usage)
  }
}

extension Command.Option {
  /// The result in JSON, and nothing else on standard output.
  static let json = Self(name: "--json", help: "JSON, for scripts")
}

import CloudSyncSQLite

/// What a command was given.
struct Arguments {
  /// What stands for itself, in order.
  private(set) var operands: [String] = []
  private var values: [(name: String, value: String)] = []
  private let call: String

  /// Reads the arguments of a command; nil if they ask for help.
  ///
  /// Options may stand anywhere and take their value as the next argument or after `=`; after `--`
  /// everything stands for itself. A value that looks like an option is one only after `=`: whoever forgets a value
  /// must not lose the option behind it, which may be the one that keeps files as they are.
  init?(_ arguments: [String], for command: Command) throws {
    call = (["cloudsync"] + command.path).joined(separator: " ")
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--help" || argument == "-h" { return nil }
      if argument == "--" {
        operands += rest
        break
      }
      guard argument.hasPrefix("-"), argument != "-" else {
        operands.append(argument)
        continue
      }
      try take(argument: argument, rest: &rest, command: command)
    }
    try checkOperands(command: command)
  }

  /// The error about an option that a command does not take.
  static func noOption(_ written: String, of command: Command) -> String {
    let hint = Suggestion.text(for: written, among: command.optionNames)
    return
      "there is no option \(written)\(hint.isEmpty ? "; “\(command.call) --help” shows all" : hint)"
  }

  private mutating func take(
    argument: String,
    rest: inout ArraySlice<String>,
    command: Command
  ) throws {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let written = String(parts[0])
    guard let option = command.options.first(where: { $0.names.contains(written) }) else {
      throw ToolError.usage(Self.noOption(written, of: command))
    }
    let name = option.name
    if !option.isRepeatable, values.contains(where: { $0.name == name }) {
      throw ToolError.usage("\(name) is given twice")
    }
    guard let valueName = option.value else {
      if parts.count > 1 { throw ToolError.usage("\(name) takes no value") }
      return values.append((name, ""))
    }
    guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
      throw ToolError.usage("\(name) needs a value: \(name) \(valueName)")
    }
    if parts.count == 1, Self.looksLikeOption(value) {
      throw ToolError.usage(
        "\(name) needs a value: \(name) \(valueName); if “\(value)” is meant, write \(name)=\(value)"
      )
    }
    values.append((name, value))
  }

  /// Whether an argument is more likely an option than a value: it begins with “-”, and is no number and no text of words.
  private static func looksLikeOption(_ text: String) -> Bool {
    let name = text.prefix { $0 != "=" }
    return name.count > 1 && name.hasPrefix("-") && Double(text) == nil
      && !name.contains(where: \.isWhitespace)
  }

  private func checkOperands(command: Command) throws {
    let wanted = command.operands
    // Those in brackets may be left out.
    if operands.count < wanted.count, !wanted[operands.count].hasPrefix("[") {
      throw ToolError.usage("\(call) needs \(wanted[operands.count])")
    }
    if operands.count > wanted.count, wanted.last?.hasSuffix("...") != true {
      throw ToolError.usage("\(call) does not take “\(operands[wanted.count])”")
    }
    // Of what else is named, such as a row's key, an empty text may be the name.
    let files = ["DATABASE": "database", "LOG": "log", "LOG...": "log"]
    for (place, operand) in operands.enumerated() where operand.isEmpty {
      guard let what = files[wanted[min(place, wanted.count - 1)]] else { continue }
      throw ToolError.usage("the name of the \(what) is empty")
    }
  }

  /// Whether an option is given.
  func has(_ name: String) -> Bool { values.contains { $0.name == name } }

  /// The value of an option, if it is given.
  func value(of name: String) -> String? { values.first { $0.name == name }?.value }

  /// All values of an option that may be repeated.
  func allValues(of name: String) -> [String] { values.filter { $0.name == name }.map(\.value) }

  /// The value of an option as a number.
  func number(of name: String) throws -> UInt64? {
    guard let text = value(of: name) else { return nil }
    return try Self.number(from: text, for: name)
  }

  /// A whole number, or an error that says what it is for.
  static func number(from text: String, for name: String) throws -> UInt64 {
    guard let number = UInt64(text) else {
      throw ToolError.usage("\(name) takes a whole number from 0 up, not “\(text)”")
    }
    return number
  }
}

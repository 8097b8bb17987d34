/// The help of a command, in lines of at most 80 characters.
struct HelpText {
  private let command: Command

  static let width = 80
  /// Where the explanations of options begin; longer names have a line of their own.
  private static let column = 28

  init(_ command: Command) { self.command = command }

  /// How the command is called, in one line.
  var usage: String {
    var text = "usage: \(command.call)"
    if !command.subcommands.isEmpty { text += " COMMAND" }
    for operand in command.operands { text += " \(operand)" }
    for option in command.options where option.isRequired {
      text += " \(option.name)" + (option.value.map { " \($0)" } ?? "")
    }
    if command.run != nil, command.options.contains(where: { !$0.isRequired && !$0.isHidden }) {
      text += " [OPTIONS]"
    }
    return text
  }

  var text: String {
    var blocks = [Self.wrapped(command.summary), usage]
    if !command.subcommands.isEmpty {
      blocks.append(
        table("commands:", of: command.subcommands.map { (($0.path.last ?? ""), $0.summary) })
      )
      blocks.append("“\(command.call) help COMMAND” says more about one.")
    }
    let options = command.options.filter { !$0.isHidden }
    if command.run != nil || !options.isEmpty {
      let rows = options.map { ($0.title, $0.help) }
      blocks.append(table("options:", of: rows + [("-h, --help", "this text")]))
    }
    if !command.discussion.isEmpty {
      blocks += command.discussion.split(separator: "\n\n").map { Self.filled(String($0)) }
    }
    return blocks.joined(separator: "\n\n") + "\n"
  }

  private func table(_ title: String, of rows: [(name: String, help: String)]) -> String {
    let longest = rows.map(\.name.count).filter { $0 + 4 <= Self.column }.max() ?? 0
    let column = longest + 4
    let lines = rows.map { name, help in
      let help = Self.wrapped(help, indentation: column).dropFirst(column)
      let padding = String(repeating: " ", count: max(0, column - 2 - name.count))
      return name.count + 4 > column
        ? "  \(name)\n\(String(repeating: " ", count: column))\(help)"
        : "  \(name)\(padding)\(help)"
    }
    return ([title] + lines).joined(separator: "\n")
  }

  /// A paragraph with its lines filled anew; lines that are indented stay as they are.
  private static func filled(_ text: String) -> String {
    let lines = text.split(separator: "\n")
    if lines.contains(where: { $0.hasPrefix(" ") }) { return text }
    return wrapped(lines.joined(separator: " "))
  }

  /// A text in lines of the width, all of them indented.
  static func wrapped(_ text: String, indentation: Int = 0) -> String {
    let indent = String(repeating: " ", count: indentation)
    var lines: [String] = []
    var line = indent
    for word in text.split(separator: " ") {
      if line.count > indentation, line.count + 1 + word.count > width {
        lines.append(line)
        line = indent
      }
      line += line.count > indentation ? " \(word)" : word
    }
    return (lines + [line]).joined(separator: "\n")
  }
}

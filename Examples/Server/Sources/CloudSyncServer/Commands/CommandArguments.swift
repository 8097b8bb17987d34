/// What a command was given: options with values, options without, and nothing else.
struct CommandArguments {
  private let values: [String: String]
  let operands: [String]

  /// Reads arguments.
  ///
  /// - Parameters:
  ///   - arguments: The arguments.
  ///   - options: The names of options that take a value.
  ///   - flags: The names of options that take none.
  ///   - operandLimit: How many arguments may stand for themselves.
  /// - Throws: What is wrong with them.
  init(
    _ arguments: [String],
    options: [String],
    flags: [String] = [],
    operandLimit: Int = 0
  ) throws(ServerFailure) {
    var values: [String: String] = [:]
    var operands: [String] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--") else {
        guard operands.count < operandLimit else {
          throw .usage("“\(argument)” is more than the command takes; --help shows what it takes")
        }
        operands.append(argument)
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      if values[name] != nil { throw .usage("\(name) is given twice") }
      if flags.contains(name), parts.count == 1 {
        values[name] = ""
      } else if options.contains(name) {
        guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty
        else { throw .usage("\(name) needs a value") }
        values[name] = value
      } else {
        throw .usage("there is no option \(name) here; --help shows all")
      }
    }
    self.values = values
    self.operands = operands
  }

  func has(_ name: String) -> Bool { values[name] != nil }

  func value(of name: String) -> String? { values[name] }

  /// The value of an option that must be there.
  func required(_ name: String, _ what: String) throws(ServerFailure) -> String {
    guard let value = values[name] else { throw .usage("\(name) \(what) is missing") }
    return value
  }

  /// The value of an option as a number within bounds.
  func number(of name: String, in bounds: ClosedRange<Int>) throws(ServerFailure) -> Int? {
    guard let text = values[name] else { return nil }
    guard let number = Int(text), bounds.contains(number) else {
      throw .usage(
        "\(name) takes a number from \(bounds.lowerBound) to \(bounds.upperBound), not “\(text)”"
      )
    }
    return number
  }
}

extension CodedReader {
  package mutating func hasElement(at position: Int, of count: Int?) -> Bool {
    if let count { position < count } else { false }
  }

  package mutating func read<T: CodedField>(_: T.Type = T.self) throws(CodedError) -> T {
    try T(from: &self)
  }

  package mutating func object<T>(
    _ body: (inout Self) throws(CodedError) -> T
  ) throws(CodedError) -> T {
    try beginObject()
    let value = try body(&self)
    try endObject()
    return value
  }

  /// Reads an array with a function for its elements.
  package mutating func array<T>(
    _ element: (inout Self) throws(CodedError) -> T
  ) throws(CodedError) -> [T] {
    let count = try beginArray()
    var values: [T] = []
    if let count { values.reserveCapacity(min(count, 4096)) }
    while hasElement(at: values.count, of: count) { values.append(try element(&self)) }
    try endArray()
    return values
  }

  package mutating func field<T: CodedField>(_ name: StaticString) throws(CodedError) -> T {
    try key(name)
    return try T(from: &self)
  }

  /// Reads an amount, which may be negative.
  package mutating func readAmount() throws(CodedError) -> Int {
    let amount = try Int(from: &self)
    if let problem = CodedRange.problem(ofAmount: amount) { throw failure(problem) }
    return amount
  }
  package mutating func amount(_ name: StaticString) throws(CodedError) -> Int {
    try key(name)
    return try readAmount()
  }

  /// Reads a number that counts up.
  package mutating func number(_ name: StaticString) throws(CodedError) -> UInt64 {
    let number: UInt64 = try field(name)
    if let problem = CodedRange.problem(ofNumber: number) { throw failure(problem) }
    return number
  }

  /// Reads an optional field: the mark, then the value if there is one.
  package mutating func optional<T>(
    _ name: StaticString,
    _ body: (inout Self) throws(CodedError) -> T
  ) throws(CodedError) -> T? {
    try key(name)
    guard try readPresent() else { return nil }
    return try body(&self)
  }
}

/// How large numbers that are read may be.
enum CodedRange {
  /// What is wrong with an amount; nil if it is so small that no sum of such amounts overflows.
  static func problem(ofAmount amount: Int) -> String? {
    // An eighth of what an Int of 32 bits holds, where it has so few.
    let isInRange = UInt64(amount.magnitude) <= min(1 << 36, UInt64(Int.max / 8))
    return isInRange ? nil : "\(amount) is out of range"
  }

  /// What is wrong with a number that counts up; nil if counting on from it never comes to an end.
  static func problem(ofNumber number: UInt64) -> String? {
    number <= 1 << 62 ? nil : "\(number) is out of range"
  }
}

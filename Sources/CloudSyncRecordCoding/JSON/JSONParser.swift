import CloudSyncCore

/// Why a text is no JSON, and where.
struct JSONError: Error, CustomStringConvertible {
  let reason: String
  /// How many bytes precede the place.
  let offset: Int
  /// The keys and indices of the place, the innermost first.
  var steps: [CodingStep] = []

  var description: String { "\(reason), at byte \(offset)" }
}

/// Reads JSON: all of its grammar, and nothing else.
///
/// The package reads JSON itself because systems differ in what theirs makes of a number.
struct JSONParser {
  private let bytes: UnsafeBufferPointer<UInt8>
  private let maximumNesting: Int
  private var index = 0

  /// Deeper than this nothing is read, whatever limit was asked for: the stack is finite.
  private static let deepest = 512

  /// Reads a text.
  ///
  /// Where a key occurs twice the last value counts.
  static func node(of text: String, maximumNesting: Int) throws(JSONError) -> JSONNode {
    var text = text
    let result = text.withUTF8 { bytes -> Result<JSONNode, JSONError> in
      var parser = JSONParser(bytes: bytes, maximumNesting: min(maximumNesting, deepest))
      do throws(JSONError) {
        return .success(try parser.document())
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private init(bytes: UnsafeBufferPointer<UInt8>, maximumNesting: Int) {
    self.bytes = bytes
    self.maximumNesting = maximumNesting
  }

  private func failure(_ reason: String) -> JSONError { JSONError(reason: reason, offset: index) }

  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
      index += 1
    }
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    skipSpace()
    guard next == byte else { return false }
    index += 1
    return true
  }

  private mutating func document() throws(JSONError) -> JSONNode {
    let node = try value(depth: 0)
    skipSpace()
    guard index == bytes.count else { throw failure("there is more behind the value") }
    return node
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSONNode {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", as: .bool(true))
    case UInt8(ascii: "f"): return try word("false", as: .bool(false))
    case UInt8(ascii: "n"): return try word("null", as: .null)
    default: return .number(JSONNumber(text: try number()))
    }
  }

  private mutating func word(_ word: StaticString, as node: JSONNode) throws(JSONError) -> JSONNode
  {
    let count = word.utf8CodeUnitCount
    guard index + count <= bytes.count,
      bytes[index..<index + count].elementsEqual("\(word)".utf8)
    else { throw failure("a value is missing") }
    index += count
    return node
  }

  // MARK: Containers

  private mutating func open(depth: Int) throws(JSONError) {
    guard depth < maximumNesting else {
      throw failure("values are nested more than \(maximumNesting) deep")
    }
    index += 1
  }

  private mutating func array(depth: Int) throws(JSONError) -> JSONNode {
    try open(depth: depth)
    var nodes: [JSONNode] = []
    if skip(UInt8(ascii: "]")) { return .array(nodes) }
    repeat {
      let step = CodingStep(index: nodes.count)
      nodes.append(
        try inside(step) { (parser) throws(JSONError) in
          try parser.value(depth: depth + 1)
        }
      )
    } while skip(UInt8(ascii: ","))
    guard skip(UInt8(ascii: "]")) else { throw failure("“,” or “]” is missing") }
    return .array(nodes)
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSONNode {
    try open(depth: depth)
    var entries: [(key: String, value: JSONNode)] = []
    if skip(UInt8(ascii: "}")) { return .object(entries) }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw failure("a key is missing") }
      let key = try string()
      guard skip(UInt8(ascii: ":")) else { throw failure("“:” is missing") }
      let value = try inside(CodingStep(key)) { (parser) throws(JSONError) in
        try parser.value(depth: depth + 1)
      }
      entries.append((key, value))
    } while skip(UInt8(ascii: ","))
    guard skip(UInt8(ascii: "}")) else { throw failure("“,” or “}” is missing") }
    return .object(Self.sorted(entries))
  }

  /// Adds a step to the path of an error.
  private mutating func inside(
    _ step: CodingStep,
    _ body: (inout JSONParser) throws(JSONError) -> JSONNode
  ) throws(JSONError) -> JSONNode {
    do throws(JSONError) {
      return try body(&self)
    } catch {
      var error = error
      error.steps.append(step)
      throw error
    }
  }

  /// The entries by their keys, the last of those that have one key.
  private static func sorted(
    _ entries: [(key: String, value: JSONNode)]
  ) -> [(key: String, value: JSONNode)] {
    let order = entries.indices.sorted {
      let order = UTF8Bytes.order(entries[$0].key, entries[$1].key)
      return order < 0 || (order == 0 && $0 < $1)
    }
    var result: [(key: String, value: JSONNode)] = []
    for index in order {
      if let last = result.last, UTF8Bytes.equal(last.key, entries[index].key) {
        result.removeLast()
      }
      result.append(entries[index])
    }
    return result
  }

  // MARK: Scalars

  private mutating func digits() -> Int {
    let start = index
    while let byte = next, byte &- 0x30 < 10 { index += 1 }
    return index - start
  }

  private mutating func number() throws(JSONError) -> String {
    let start = index
    if next == UInt8(ascii: "-") { index += 1 }
    let isZero = next == UInt8(ascii: "0")
    let count = digits()
    guard count > 0 else { throw failure("a value is missing") }
    if isZero, count > 1 { throw failure("a number begins with zeros") }
    if next == UInt8(ascii: ".") {
      index += 1
      guard digits() > 0 else { throw failure("digits are missing behind the point") }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      index += 1
      if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") { index += 1 }
      guard digits() > 0 else { throw failure("digits are missing in the exponent") }
    }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func string() throws(JSONError) -> String {
    index += 1
    var start = index
    var text: [UInt8] = []
    while let byte = next, byte != UInt8(ascii: "\"") {
      if byte < 0x20 { throw failure("a control character is not escaped") }
      guard byte == UInt8(ascii: "\\") else {
        index += 1
        continue
      }
      text.append(contentsOf: bytes[start..<index])
      try escape(into: &text)
      start = index
    }
    guard next != nil else { throw failure("the text ends within quotes") }
    text.append(contentsOf: bytes[start..<index])
    index += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
    index += 1
    guard let kind = next else { throw failure("the text ends within quotes") }
    index += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "n"): text.append(0x0a)
    case UInt8(ascii: "f"): text.append(0x0c)
    case UInt8(ascii: "r"): text.append(0x0d)
    case UInt8(ascii: "u"): text.append(contentsOf: Array(String(try character()).utf8))
    default: throw failure("an escape is unknown")
    }
  }

  /// A character by its number, or by the two numbers that UTF-16 has for it.
  private mutating func character() throws(JSONError) -> Character {
    let high = try codeUnit()
    var scalar = Unicode.Scalar(UInt32(high))
    if UTF16.isLeadSurrogate(high), index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
      bytes[index + 1] == UInt8(ascii: "u")
    {
      index += 2
      let low = try codeUnit()
      if UTF16.isTrailSurrogate(low) {
        scalar = UTF16.decode(UTF16.EncodedScalar([high, low]))
      }
    }
    guard let scalar else { throw failure("half a character is escaped") }
    return Character(scalar)
  }

  private mutating func codeUnit() throws(JSONError) -> UInt16 {
    let end = index + 4
    guard end <= bytes.count, bytes[index..<end].allSatisfy(Self.isHexadecimal),
      let unit = UInt16(String(decoding: bytes[index..<end], as: UTF8.self), radix: 16)
    else { throw failure("four digits are missing in an escape") }
    index = end
    return unit
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6
  }
}

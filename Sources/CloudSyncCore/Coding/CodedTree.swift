#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A coded value as a tree: what stands between `CodedValue` and `Codable`.
package indirect enum CodedTree: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case uint(UInt64)
  case string(String)
  case array([CodedTree])
  /// Fields in the order in which they were written, those without a value left out.
  case object([(key: String, value: CodedTree)])
}

extension CodedTree {
  /// The tree of a value.
  package static func of(_ value: some CodedValue, isSkeleton: Bool = false) -> CodedTree {
    var writer = TreeWriter(isSkeleton: isSkeleton)
    value.write(to: &writer)
    return writer.tree
  }
}

extension CodedTree: Codable {
  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .bool(let value):
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .int(let value):
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .uint(let value):
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .string(let value):
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .array(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(value) }
    case .object(let fields):
      var container = encoder.container(keyedBy: Key.self)
      for (key, value) in fields { try container.encode(value, forKey: Key(stringValue: key)) }
    }
  }

  package init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      let keys = container.allKeys.sorted { $0.stringValue < $1.stringValue }
      self = .object(
        try keys.map { ($0.stringValue, try container.decode(CodedTree.self, forKey: $0)) }
      )
    } else if var container = try? decoder.unkeyedContainer() {
      var values: [CodedTree] = []
      while !container.isAtEnd { values.append(try container.decode(CodedTree.self)) }
      self = .array(values)
    } else {
      self = try Self.scalar(decoder.singleValueContainer())
    }
  }

  private static func scalar(_ container: any SingleValueDecodingContainer) throws -> CodedTree {
    if container.decodeNil() { return .null }
    // A coder says which type it holds only by refusing the others.
    if let value = try? container.decode(Bool.self) { return .bool(value) }
    if let value = try? container.decode(Int64.self) { return .int(value) }
    if let value = try? container.decode(UInt64.self) { return .uint(value) }
    return .string(try container.decode(String.self))
  }
}

/// Builds a tree.
package struct TreeWriter: CodedWriter {
  private enum Frame {
    case object([(key: String, value: CodedTree)])
    case array([CodedTree])
  }

  private var frames: [Frame] = []
  private var keys: [String] = []
  private var root: CodedTree = .null

  /// Whether what tells about the user is left out, as in ``SkeletonDigest``.
  private let isSkeleton: Bool

  package init(isSkeleton: Bool = false) { self.isSkeleton = isSkeleton }

  /// The tree of the one value that was written.
  package var tree: CodedTree { root }

  private mutating func add(_ value: CodedTree) {
    switch frames.popLast() {
    case .object(var fields)?:
      fields.append((keys.popLast() ?? "", value))
      frames.append(.object(fields))
    case .array(var values)?:
      values.append(value)
      frames.append(.array(values))
    case nil:
      root = value
    }
  }

  package mutating func beginObject() { frames.append(.object([])) }
  package mutating func endObject() {
    if case .object(let fields)? = frames.popLast() { add(.object(fields)) }
  }
  package mutating func key(_ name: StaticString) { keys.append("\(name)") }
  package mutating func beginArray(count: Int) { frames.append(.array([])) }
  package mutating func endArray() {
    if case .array(let values)? = frames.popLast() { add(.array(values)) }
  }
  package mutating func tag(_ index: Int, of names: [StaticString]) {
    add(.string("\(names[index])"))
  }
  package mutating func writeNil() {
    // A field without a value is left out; elsewhere there is a null.
    if case .object? = frames.last { keys.removeLast() } else { add(.null) }
  }
  package mutating func writePresent() {}
  package mutating func write(_ value: Bool) { add(.bool(value)) }
  package mutating func write(_ value: Int64) { add(.int(value)) }
  package mutating func write(_ value: UInt64) {
    if let small = Int64(exactly: value) { add(.int(small)) } else { add(.uint(value)) }
  }
  /// Doubles travel as text, the shortest that reads back to the same bits, or as their bits in
  /// hexadecimal where they are not finite: no coder rounds or refuses them.
  package mutating func write(_ value: Double) {
    add(.string(value.isFinite ? "\(value)" : "bits:\(String(value.bitPattern, radix: 16))"))
  }
  package mutating func write(_ value: String) { add(.string(value)) }
  package mutating func write(_ value: Data) { add(.string(value.base64EncodedString())) }

  package func disclosed<Value: RedactableValue>(_ value: Value, of field: String) -> Value {
    isSkeleton ? value.skeleton : value
  }
  package func disclosed(_ text: String, as part: PrivatePart) -> String { isSkeleton ? "" : text }
  package func disclosed(_ bytes: Data, as part: PrivatePart) -> Data {
    isSkeleton ? Data() : bytes
  }
}

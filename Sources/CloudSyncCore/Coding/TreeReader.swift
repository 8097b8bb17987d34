#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Reads coded values from a tree, whatever the order of its fields.
package struct TreeReader: CodedReader {
  /// The value to be read next, nil where an object has no such field.
  private var current: CodedTree?
  private var frames: [(value: CodedTree, index: Int)] = []
  private var path: [String] = []

  package init(_ tree: CodedTree) { current = tree }

  package func failure(_ reason: String) -> CodedError {
    CodedError(place: path.isEmpty ? "the value" : path.joined(separator: "."), reason: reason)
  }

  /// Takes the value to be read, and moves on if it is an element of an array.
  private mutating func nextValue() throws(CodedError) -> CodedTree {
    guard let value = current else { throw failure("is missing") }
    advance()
    return value
  }

  private mutating func advance() {
    guard let last = frames.last else { return current = nil }
    if case .array(let values) = last.value {
      let next = last.index + 1
      frames[frames.count - 1].index = next
      current = next < values.count ? values[next] : nil
    } else {
      current = nil
    }
  }

  package mutating func beginObject() throws(CodedError) {
    guard case .object? = current, let value = current else { throw failure("is not an object") }
    frames.append((value, 0))
    path.append("")
    current = nil
  }
  package mutating func endObject() {
    frames.removeLast()
    path.removeLast()
    advance()
  }
  package mutating func key(_ name: StaticString) {
    guard case .object(let fields)? = frames.last?.value else { return }
    let wanted = "\(name)"
    path[path.count - 1] = wanted
    current = fields.first { $0.key == wanted }?.value
  }
  package mutating func beginArray() throws(CodedError) -> Int? {
    guard case .array(let values)? = current, let value = current else {
      throw failure("is not an array")
    }
    frames.append((value, 0))
    path.append("[]")
    current = values.first
    return values.count
  }
  package mutating func endArray() { endObject() }

  package mutating func tag(of names: [StaticString]) throws(CodedError) -> Int {
    let name = try readString()
    guard let index = names.firstIndex(where: { "\($0)" == name }) else {
      throw failure("“\(name)” is no known case")
    }
    return index
  }
  package mutating func readPresent() -> Bool {
    if case .null? = current {
      advance()
      return false
    }
    return current != nil
  }
  package mutating func readBool() throws(CodedError) -> Bool {
    guard case .bool(let value) = try nextValue() else { throw failure("is not true or false") }
    return value
  }
  package mutating func readInt64() throws(CodedError) -> Int64 {
    guard case .int(let value) = try nextValue() else { throw failure("is not a 64-bit integer") }
    return value
  }
  package mutating func readUInt64() throws(CodedError) -> UInt64 {
    switch try nextValue() {
    case .int(let value) where value >= 0: return UInt64(value)
    case .uint(let value): return value
    default: throw failure("is not an unsigned 64-bit integer")
    }
  }
  package mutating func readDouble() throws(CodedError) -> Double {
    let text = try readString()
    if text.hasPrefix("bits:"), let bits = UInt64(text.dropFirst(5), radix: 16) {
      return Double(bitPattern: bits)
    }
    guard let value = Double(text), value.isFinite else { throw failure("is not a number") }
    return value
  }
  package mutating func readString() throws(CodedError) -> String {
    guard case .string(let value) = try nextValue() else { throw failure("is not text") }
    return value
  }
  package mutating func readData() throws(CodedError) -> Data {
    guard let data = Data(base64Encoded: try readString()) else { throw failure("is not base64") }
    return data
  }
}

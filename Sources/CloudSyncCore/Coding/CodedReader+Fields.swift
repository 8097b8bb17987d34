#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension CodedReader {
  package mutating func hasElement(_ position: Int, of count: Int?) -> Bool {
    if let count { position < count } else { false }
  }

  package mutating func read<T: CodedValue>(_: T.Type = T.self) throws(CodedError) -> T {
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
    while hasElement(values.count, of: count) { values.append(try element(&self)) }
    try endArray()
    return values
  }

  package mutating func field(_ name: StaticString) throws(CodedError) -> Bool {
    try key(name)
    return try readBool()
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> Int {
    try key(name)
    let wide = try readInt64()
    guard let value = Int(exactly: wide) else { throw failure("\(wide) does not fit") }
    return value
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> Int64 {
    try key(name)
    return try readInt64()
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> UInt64 {
    try key(name)
    return try readUInt64()
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> Double {
    try key(name)
    return try readDouble()
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> String {
    try key(name)
    return try readString()
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> Data {
    try key(name)
    return try readData()
  }
  package mutating func field<T: CodedValue>(_ name: StaticString) throws(CodedError) -> T {
    try key(name)
    return try T(from: &self)
  }
  package mutating func field<T: CodedValue>(_ name: StaticString) throws(CodedError) -> [T] {
    try key(name)
    return try array { (reader) throws(CodedError) in try T(from: &reader) }
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> [String] {
    try key(name)
    return try array { (reader) throws(CodedError) in try reader.readString() }
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> [UInt64] {
    try key(name)
    return try array { (reader) throws(CodedError) in try reader.readUInt64() }
  }

  package mutating func field<T: CodedValue>(_ name: StaticString) throws(CodedError) -> T? {
    try optional(name) { (reader) throws(CodedError) in try T(from: &reader) }
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> String? {
    try optional(name) { (reader) throws(CodedError) in try reader.readString() }
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> Int64? {
    try optional(name) { (reader) throws(CodedError) in try reader.readInt64() }
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> UInt64? {
    try optional(name) { (reader) throws(CodedError) in try reader.readUInt64() }
  }
  package mutating func field(_ name: StaticString) throws(CodedError) -> Double? {
    try optional(name) { (reader) throws(CodedError) in try reader.readDouble() }
  }

  /// Reads an amount, which may be negative: so small that no sum of what fits into memory overflows.
  package mutating func readAmount() throws(CodedError) -> Int {
    let wide = try readInt64()
    // An eighth of what an Int of 32 bits holds, where it has so few.
    guard wide.magnitude <= min(1 << 36, UInt64(Int.max / 8)), let amount = Int(exactly: wide)
    else {
      throw failure("\(wide) is out of range")
    }
    return amount
  }
  package mutating func amount(_ name: StaticString) throws(CodedError) -> Int {
    try key(name)
    return try readAmount()
  }

  /// Reads a number that counts up: so far from the end that counting never comes there.
  package mutating func number(_ name: StaticString) throws(CodedError) -> UInt64 {
    try key(name)
    let number = try readUInt64()
    guard number <= 1 << 62 else { throw failure("\(number) is out of range") }
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

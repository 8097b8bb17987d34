#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension CodedWriter {
  package mutating func write(_ value: Int) { write(Int64(value)) }

  package mutating func write<T: CodedValue>(_ value: T) { value.write(to: &self) }

  package mutating func write<T: CodedValue>(_ values: some Collection<T>) {
    beginArray(count: values.count)
    for value in values { value.write(to: &self) }
    endArray()
  }

  package mutating func object(_ body: (inout Self) -> Void) {
    beginObject()
    body(&self)
    endObject()
  }

  package mutating func field(_ name: StaticString, _ value: Bool) {
    key(name)
    write(value)
  }
  package mutating func field(_ name: StaticString, _ value: Int) {
    key(name)
    write(Int64(value))
  }
  package mutating func field(_ name: StaticString, _ value: Int64) {
    key(name)
    write(value)
  }
  package mutating func field(_ name: StaticString, _ value: UInt64) {
    key(name)
    write(value)
  }
  package mutating func field(_ name: StaticString, _ value: Double) {
    key(name)
    write(value)
  }
  package mutating func field(_ name: StaticString, _ value: String) {
    key(name)
    write(value)
  }
  package mutating func field(_ name: StaticString, _ value: Data) {
    key(name)
    write(value)
  }
  package mutating func field<T: CodedValue>(_ name: StaticString, _ value: T) {
    key(name)
    value.write(to: &self)
  }
  package mutating func field<T: CodedValue>(_ name: StaticString, _ values: some Collection<T>) {
    key(name)
    write(values)
  }
  package mutating func field(_ name: StaticString, _ values: [String]) {
    key(name)
    beginArray(count: values.count)
    for value in values { write(value) }
    endArray()
  }
  package mutating func field(_ name: StaticString, _ values: [UInt64]) {
    key(name)
    beginArray(count: values.count)
    for value in values { write(value) }
    endArray()
  }

  package mutating func field<T: CodedValue>(_ name: StaticString, _ value: T?) {
    optional(name, value) { $0.write($1) }
  }
  package mutating func field(_ name: StaticString, _ value: String?) {
    optional(name, value) { $0.write($1) }
  }
  package mutating func field(_ name: StaticString, _ value: Int64?) {
    optional(name, value) { $0.write($1) }
  }
  package mutating func field(_ name: StaticString, _ value: UInt64?) {
    optional(name, value) { $0.write($1) }
  }
  package mutating func field(_ name: StaticString, _ value: Double?) {
    optional(name, value) { $0.write($1) }
  }

  /// Writes an optional field: the mark, then the value if there is one.
  package mutating func optional<T>(
    _ name: StaticString,
    _ value: T?,
    _ body: (inout Self, T) -> Void
  ) {
    key(name)
    guard let value else { return writeNil() }
    writePresent()
    body(&self, value)
  }
}

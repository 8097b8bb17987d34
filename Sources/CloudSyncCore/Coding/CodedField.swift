#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What a field can hold: a coded value, a scalar, or an optional or an array of them.
package protocol CodedField {
  /// Writes the value; one with fields writes them in a fixed order.
  func write<W: CodedWriter>(to writer: inout W)
  /// Reads what `write(to:)` wrote.
  init<R: CodedReader>(from reader: inout R) throws(CodedError)
}

extension Bool: CodedField {
  package func write<W: CodedWriter>(to writer: inout W) { writer.write(self) }
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.readBool()
  }
}

extension Int: CodedField {
  package func write<W: CodedWriter>(to writer: inout W) { writer.write(Int64(self)) }
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    let wide = try reader.readInt64()
    guard let value = Int(exactly: wide) else { throw reader.failure("\(wide) does not fit") }
    self = value
  }
}

extension Int64: CodedField {
  package func write<W: CodedWriter>(to writer: inout W) { writer.write(self) }
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.readInt64()
  }
}

extension UInt64: CodedField {
  package func write<W: CodedWriter>(to writer: inout W) { writer.write(self) }
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.readUInt64()
  }
}

extension Double: CodedField {
  package func write<W: CodedWriter>(to writer: inout W) { writer.write(self) }
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.readDouble()
  }
}

extension String: CodedField {
  package func write<W: CodedWriter>(to writer: inout W) { writer.write(self) }
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.readString()
  }
}

extension Data: CodedField {
  package func write<W: CodedWriter>(to writer: inout W) { writer.write(self) }
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.readData()
  }
}

extension Optional: CodedField where Wrapped: CodedField {
  package func write<W: CodedWriter>(to writer: inout W) {
    guard let self else { return writer.writeNil() }
    writer.writePresent()
    self.write(to: &writer)
  }
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.readPresent() ? try Wrapped(from: &reader) : nil
  }
}

extension Array: CodedField where Element: CodedField {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.array(self, count: count)
  }
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.array { (reader) throws(CodedError) in try Element(from: &reader) }
  }
}

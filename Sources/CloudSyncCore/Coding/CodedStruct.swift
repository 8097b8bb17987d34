/// A value whose coded form is one list of its fields, which serves both directions.
///
/// ```swift
/// extension Split: CodedStruct {
///   package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
///     error = try coder.field("error") { $0.error }
///     isTooLarge = try coder.field("isTooLarge") { $0.isTooLarge }
///   }
/// }
/// ```
package protocol CodedStruct: CodedValue {
  /// Creates the value of its fields, in the order in which they are coded.
  ///
  /// When reading, every field comes out of the coder. When writing, the closure is asked for the
  /// field of the value that is written, and what is created here is discarded.
  init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure)
}

/// Reads or writes the fields of a value.
package protocol FieldCoder<Value> {
  associatedtype Value
  /// `Never` for a coder that writes.
  associatedtype Failure: Error

  /// Reads a field and returns it, or writes the field that `value` gets and returns that.
  mutating func field<T: CodedField>(
    _ name: StaticString,
    _ value: (Value) -> T
  ) throws(Failure) -> T

  /// Fails if there is a problem with what was read; a coder that writes does not look for one.
  func check(_ problem: () -> String?) throws(Failure)
}

extension FieldCoder {
  /// Codes what `CodedReader.amount(_:)` reads.
  @inline(__always)
  mutating func amount(_ name: StaticString, _ value: (Value) -> Int) throws(Failure) -> Int {
    let amount = try field(name, value)
    try check { CodedRange.problem(ofAmount: amount) }
    return amount
  }

  /// Codes an amount that may be missing.
  @inline(__always)
  mutating func optionalAmount(
    _ name: StaticString,
    _ value: (Value) -> Int?
  ) throws(Failure) -> Int? {
    let amount = try field(name, value)
    try check { amount.flatMap(CodedRange.problem(ofAmount:)) }
    return amount
  }

  /// Codes what `CodedReader.number(_:)` reads.
  @inline(__always)
  mutating func number(
    _ name: StaticString,
    _ value: (Value) -> UInt64
  ) throws(Failure) -> UInt64 {
    let number = try field(name, value)
    try check { CodedRange.problem(ofNumber: number) }
    return number
  }
}

extension CodedStruct {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.beginObject()
    withUnsafeMutablePointer(to: &writer) { writer in
      var coder = FieldWriter(value: self, writer: writer)
      _ = Self(fields: &coder)
    }
    writer.endObject()
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    self = try withUnsafeMutablePointer(to: &reader) { (reader) throws(CodedError) in
      var coder = FieldReader<Self, R>(reader: reader)
      return try Self(fields: &coder)
    }
    try reader.endObject()
  }
}

private struct FieldWriter<Value, Writer: CodedWriter>: FieldCoder {
  let value: Value
  /// The writer where it lies: writing to a copy would copy its buffers.
  let writer: UnsafeMutablePointer<Writer>

  @inline(__always)
  mutating func field<T: CodedField>(_ name: StaticString, _ value: (Value) -> T) -> T {
    let field = value(self.value)
    writer.pointee.field(name, field)
    return field
  }

  @inline(__always)
  func check(_ problem: () -> String?) {}
}

private struct FieldReader<Value, Reader: CodedReader>: FieldCoder {
  /// The reader where it lies: it has to move on.
  let reader: UnsafeMutablePointer<Reader>

  @inline(__always)
  mutating func field<T: CodedField>(
    _ name: StaticString,
    _ value: (Value) -> T
  ) throws(CodedError) -> T { try reader.pointee.field(name) }

  @inline(__always)
  func check(_ problem: () -> String?) throws(CodedError) {
    if let problem = problem() { throw reader.pointee.failure(problem) }
  }
}

extension CodedWriter {
  package mutating func write(_ value: Int) { write(Int64(value)) }

  package mutating func write<T: CodedField>(_ value: T) { value.write(to: &self) }

  package mutating func object(_ body: (inout Self) -> Void) {
    beginObject()
    body(&self)
    endObject()
  }

  /// Writes so many elements as an array.
  package mutating func array<T: CodedField>(_ elements: some Sequence<T>, count: Int) {
    beginArray(count: count)
    for element in elements { element.write(to: &self) }
    endArray()
  }

  package mutating func field<T: CodedField>(_ name: StaticString, _ value: T) {
    key(name)
    value.write(to: &self)
  }
}

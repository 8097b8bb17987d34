extension PersistentQueue: Equatable where Element: CodedValue {
  package static func == (lhs: PersistentQueue, rhs: PersistentQueue) -> Bool {
    lhs.count == rhs.count && lhs.elementsEqual(rhs)
  }
}

extension PersistentQueue: Hashable where Element: CodedValue {
  package func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for element in self { hasher.combine(element) }
  }
}

extension PersistentQueue: Encodable where Element: CodedValue {}
extension PersistentQueue: Decodable where Element: CodedValue {}
extension PersistentQueue: CodedValue where Element: CodedValue {}

/// A queue is coded as the array of its elements: how it lies in memory is nobody's business.
extension PersistentQueue: CodedField where Element: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.array(self, count: count)
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self.init()
    let announced = try reader.beginArray()
    while reader.hasElement(at: count, of: announced) { append(try Element(from: &reader)) }
    try reader.endArray()
  }
}

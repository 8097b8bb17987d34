extension UnsafeRawBufferPointer {
  /// Whether another buffer has the same bytes: eight at a time, since it is asked for every text of every row.
  func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    var index = 0
    while index + 8 <= count {
      let mine = unsafe loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if unsafe mine != other.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
      index += 8
    }
    while index < count {
      if unsafe self[index] != other[index] { return false }
      index += 1
    }
    return true
  }
}

/// Bytes that grow at the end, without the checks that an array makes whenever one is added.
///
/// Copies share memory: whoever begins to write calls ``makeUnique()``, and no copy is made while
/// it writes.
struct LineBuffer {
  private final class Memory {
    let start: UnsafeMutablePointer<UInt8>
    let capacity: Int

    init(capacity: Int) {
      start = .allocate(capacity: capacity)
      self.capacity = capacity
    }

    deinit { start.deallocate() }
  }

  private var memory: Memory
  /// Where the next byte goes.
  private var cursor: UnsafeMutablePointer<UInt8>
  private var limit: UnsafeMutablePointer<UInt8>

  init(capacity: Int = 1_024) {
    memory = Memory(capacity: capacity)
    cursor = memory.start
    limit = memory.start + capacity
  }

  var count: Int { cursor - memory.start }

  /// The bytes, until the next one is added.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withExtendedLifetime(memory) { body(UnsafeRawBufferPointer(start: memory.start, count: count)) }
  }

  mutating func removeAll() {
    makeUnique()
    cursor = memory.start
  }

  /// Takes memory of its own if there are copies.
  mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&memory) { move(toCapacity: memory.capacity) }
  }

  private mutating func move(toCapacity capacity: Int) {
    let new = Memory(capacity: capacity)
    let count = count
    new.start.update(from: memory.start, count: count)
    memory = new
    cursor = new.start + count
    limit = new.start + capacity
  }

  /// Sees to it that so many bytes can be added.
  @inline(__always)
  private mutating func reserve(_ count: Int) {
    if limit - cursor < count { grow(for: count) }
  }

  @inline(never)
  private mutating func grow(for count: Int) {
    move(toCapacity: max(2 * memory.capacity, self.count + count))
  }

  // MARK: Adding

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    cursor.pointee = byte
    cursor += 1
  }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    append(text.utf8Start, count: text.utf8CodeUnitCount)
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafePointer<UInt8>, count: Int) {
    reserve(count)
    cursor.update(from: bytes, count: count)
    cursor += count
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    append(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
  }

  /// Appends `"name":` with a comma before it or without, in one go: there are more keys than anything.
  mutating func append(key: StaticString, afterComma: Bool) {
    let count = key.utf8CodeUnitCount
    reserve(count + 4)
    cursor.pointee = UInt8(ascii: ",")
    if afterComma { cursor += 1 }
    cursor.pointee = UInt8(ascii: "\"")
    (cursor + 1).update(from: key.utf8Start, count: count)
    cursor += count + 1
    cursor[0] = UInt8(ascii: "\"")
    cursor[1] = UInt8(ascii: ":")
    cursor += 2
  }

  /// Appends a number in decimal.
  mutating func append(decimal value: UInt64) {
    reserve(20)
    var count = 1
    var bound: UInt64 = 10
    while count < 20, value >= bound {
      count += 1
      // The largest power of ten that fits has 20 digits.
      if count < 20 { bound *= 10 }
    }
    let end = cursor + count
    var (place, rest) = (end, value)
    // Two digits for each division of many words.
    while rest >= 100 {
      let pair = UInt8(truncatingIfNeeded: rest % 100)
      rest /= 100
      place -= 2
      place[0] = UInt8(ascii: "0") + pair / 10
      place[1] = UInt8(ascii: "0") + pair % 10
    }
    let last = UInt8(truncatingIfNeeded: rest)
    if last >= 10 {
      place[-1] = UInt8(ascii: "0") + last % 10
      place[-2] = UInt8(ascii: "0") + last / 10
    } else {
      place[-1] = UInt8(ascii: "0") + last
    }
    cursor = end
  }
}

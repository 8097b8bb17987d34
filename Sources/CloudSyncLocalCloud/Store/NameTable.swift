import CloudSyncCore

/// Finds the number of a name: open addressing by hashes, to which names are only added.
///
/// It keeps no names, only their hashes: whoever uses it says whether a number is that of a name. So a
/// look-up touches one line of memory and no reference counts.
struct NameTable {
  private struct Slot {
    var hash: UInt64
    /// The number plus 1; 0 where the slot is free.
    var entry: UInt64
  }

  private var slots: [Slot]
  private var count = 0

  init(capacity: Int = 16) {
    var size = 16
    while size < capacity * 2 { size *= 2 }
    slots = Array(repeating: Slot(hash: 0, entry: 0), count: size)
  }

  /// What a name is found by.
  static func hash(of name: String) -> UInt64 { UTF8Bytes.stableHash(text: name, seed: 0) }

  /// The number under a hash of which the body says that it is the one.
  @inline(__always)
  func find(hash: UInt64, isIt: (Int) -> Bool) -> Int? {
    let mask = slots.count - 1
    var index = Int(truncatingIfNeeded: hash) & mask
    while slots[index].entry != 0 {
      if slots[index].hash == hash {
        let number = Int(slots[index].entry - 1)
        if isIt(number) { return number }
      }
      index = (index + 1) & mask
    }
    return nil
  }

  /// Adds a number whose name is not there yet.
  mutating func add(hash: UInt64, number: Int) {
    if count * 4 >= slots.count * 3 { grow() }
    place(slot: Slot(hash: hash, entry: UInt64(number) + 1))
    count += 1
  }

  private mutating func place(slot: Slot) {
    let mask = slots.count - 1
    var index = Int(truncatingIfNeeded: slot.hash) & mask
    while slots[index].entry != 0 { index = (index + 1) & mask }
    slots[index] = slot
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(hash: 0, entry: 0), count: old.count * 2)
    for slot in old where slot.entry != 0 { place(slot: slot) }
  }
}

import CloudSyncCore
import CloudSyncSQLiteSupport

/// A digest of 64 bits of a row's values, as SQLite reads them back.
///
/// It tells whether somebody has changed a clean row while nobody captured, so it is stored, and the same
/// values give the same digest in every version of the engine. It is no secret and no proof: of rows that
/// were changed by chance, one in 2⁶⁴ is missed.
struct RowDigest: Sendable {
  private var state: UInt64 = 0x9e37_79b9_7f4a_7c15

  init() {}

  /// The digest of a row.
  static func digest(of values: some Sequence<SQLiteValue>) -> Int64 {
    var digest = RowDigest()
    for value in values { digest.add(value) }
    return digest.value
  }

  /// Adds the next column's value.
  mutating func add(_ value: SQLiteValue) {
    switch value {
    case .null: add(0)
    case .integer(let number):
      add(1)
      add(UInt64(bitPattern: number))
    case .real(let number):
      add(2)
      // A zero is the same whatever its sign: SQL does not tell them apart.
      add(number == 0 ? 0 : number.bitPattern)
    case .text(let text): UTF8Bytes.with(text) { add($0, kind: 3) }
    // Text is its bytes, whether or not they are UTF-8.
    case .malformedText(let bytes): bytes.withUnsafeBytes { add($0, kind: 3) }
    case .blob(let bytes): bytes.withUnsafeBytes { add($0, kind: 4) }
    }
  }

  /// The digest of what was added.
  var value: Int64 {
    var mixed = state
    mixed = (mixed ^ (mixed >> 33)) &* 0xff51_afd7_ed55_8ccd
    mixed = (mixed ^ (mixed >> 33)) &* 0xc4ce_b9fe_1a85_ec53
    return Int64(bitPattern: mixed ^ (mixed >> 33))
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer, kind: UInt64) {
    // The length comes first: so neighbouring texts do not run into each other.
    add(kind | UInt64(bytes.count) << 3)
    var rest = bytes[...]
    while rest.count >= 8 {
      add(UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self)))
      rest = rest.dropFirst(8)
    }
    if rest.isEmpty { return }
    var word: UInt64 = 0
    for byte in rest.reversed() { word = word << 8 | UInt64(byte) }
    add(word)
  }

  private mutating func add(_ word: UInt64) {
    let product = state ^ (word &* 0x87c3_7b91_1142_53d5)
    state = (product << 31 | product >> 33) &* 0x4cf5_ad43_2745_937f &+ 0x52dc_e729
  }
}

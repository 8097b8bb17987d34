import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLite

@Suite("Digests of rows")
struct RowDigestTests {
  @Test("They are the same in every version of the engine")
  func fixed() {
    #expect(RowDigest.digest(of: []) == -7_160_610_219_483_255_062)
    let values: [SQLiteValue] = [
      .null, .integer(-1), .real(0.5), .text("Grüße, eine lange Zeile"), .blob([1, 2, 3]),
    ]
    #expect(RowDigest.digest(of: values) == 3_076_461_192_455_707_850)
  }

  @Test("Values of other types, other bytes and other columns have others")
  func differences() {
    let rows: [[SQLiteValue]] = [
      [], [.null], [.null, .null], [.integer(0)], [.real(0)], [.text("")], [.blob([])],
      [.text("0")], [.blob([0x30])], [.text("ab"), .text("c")], [.text("a"), .text("bc")],
      [.text("abcdefgh")], [.text("abcdefgh\0")], [.text("abcdefg")], [.malformedText([0xff])],
      [.blob([0xff])], [.text("é")], [.text("e\u{301}")],
    ]
    #expect(Set(rows.map { RowDigest.digest(of: $0) }).count == rows.count)
  }

  @Test("A zero is the same whatever its sign, as for SQL")
  func zero() {
    #expect(RowDigest.digest(of: [.real(-0.0)]) == RowDigest.digest(of: [.real(0)]))
  }

  @Test("One bit anywhere makes another digest")
  func bits() {
    var seen: Set<Int64> = []
    for length in [1, 7, 8, 9, 40] {
      for bit in 0..<(length * 8) {
        var bytes = [UInt8](repeating: 0, count: length)
        bytes[bit / 8] = 1 << UInt8(bit % 8)
        seen.insert(RowDigest.digest(of: [.blob(bytes)]))
      }
    }
    #expect(seen.count == 65 * 8)
  }
}

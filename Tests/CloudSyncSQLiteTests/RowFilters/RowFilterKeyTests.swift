import CloudSyncCore
import CloudSyncSQLite
import Testing

@Suite("Keys of rows that stay on a device, changed more than once or before the filter is removed")
struct RowFilterKeyTests {
  private static let rows = "SELECT id FROM notes ORDER BY id"

  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try RowFilterTests.pair()
    try mac.execute("INSERT INTO notes VALUES('a', 'A', '', 0), ('b', 'B', '', 0)", at: 1)
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  @Test("A row that gets another key several times takes its first record along when it is sent")
  func changedTwice() throws {
    for removesFilter in [false, true] {
      let (bench, mac, phone) = try pair()
      try mac.execute("UPDATE notes SET id = 'c', private = 1 WHERE id = 'b'", at: 2)
      try bench.sync(mac)
      try mac.execute("UPDATE notes SET id = 'd' WHERE id = 'c'", at: 3)
      try bench.sync(mac)
      try mac.execute("UPDATE notes SET id = 'e' WHERE id = 'd'", at: 4)
      try bench.sync(mac, phone)
      #expect(try phone.lines(Self.rows) == ["'a'", "'b'"])
      if removesFilter {
        try bench.restart(mac, RowFilterTests.tables)
      } else {
        try mac.execute("UPDATE notes SET private = 0", at: 5)
      }
      try bench.sync(mac, phone)
      for device in [mac, phone] {
        #expect(try device.lines(Self.rows) == ["'a'", "'e'"])
        #expect(try bench.unclean(device) == [])
      }
      #expect(try bench.cloudNames() == ["a:notes", "e:notes"])
    }
  }

  @Test(
    "Deleted after that without matching it leaves the record alone, and nothing but its tombstone here"
  )
  func changedTwiceAndDeleted() throws {
    for removesFilter in [false, true] {
      let (bench, mac, phone) = try pair()
      try mac.execute("UPDATE notes SET id = 'c', private = 1 WHERE id = 'b'", at: 2)
      try bench.sync(mac)
      try mac.execute("UPDATE notes SET id = 'd' WHERE id = 'c'", at: 3)
      try bench.sync(mac)
      try mac.execute("DELETE FROM notes WHERE id = 'd'", at: 4)
      try bench.sync(mac, phone)
      #expect(try mac.lines("SELECT record_name FROM cloudsync_pending") == ["'b:notes'"])
      if removesFilter { try bench.restart(mac, RowFilterTests.tables) }
      try bench.sync(mac, phone, mac)
      #expect(try phone.lines(Self.rows) == ["'a'", "'b'"])
      #expect(try mac.lines(Self.rows) == (removesFilter ? ["'a'", "'b'"] : ["'a'"]))
    }
  }

  @Test("A row with another key that matches again when it is deleted takes its first record along")
  func deletedWhileItMatches() throws {
    for reads in [false, true] {
      let (bench, mac, phone) = try pair()
      try mac.execute("UPDATE notes SET id = 'c', private = 1 WHERE id = 'b'", at: 2)
      try bench.sync(mac)
      try mac.execute("UPDATE notes SET private = 0", at: 3)
      if reads { _ = try mac.engine.status(of: .string("c"), in: "notes") }
      try mac.execute("DELETE FROM notes WHERE id = 'c'", at: 4)
      try bench.sync(mac, phone)
      #expect(try phone.lines(Self.rows) == ["'a'"])
      #expect(try bench.unclean(mac) == [])
    }
  }

  @Test("What was deleted here alone under another key comes back when the filter is removed")
  func removedFilter() throws {
    for reads in [false, true] {
      let (bench, mac, phone) = try pair()
      try mac.execute("UPDATE notes SET id = 'c', private = 1 WHERE id = 'b'", at: 2)
      if reads { try bench.sync(mac) }
      try mac.execute("DELETE FROM notes WHERE id = 'c'", at: 3)
      try bench.sync(mac, phone)
      try bench.restart(mac, RowFilterTests.tables)
      try bench.sync(mac, phone, mac)
      for device in [mac, phone] {
        #expect(try device.lines(Self.rows) == ["'a'", "'b'"])
        #expect(try bench.unclean(device) == [])
      }
    }
  }
}

import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSimulator
import Foundation
import Testing

@testable import CloudSyncSQLite

/// A record tells by another one's name where its row goes on.
///
/// An engine may have noted that before the table was renamed.
@Suite("Records that tell of moves by the name that their table had")
struct StaleMoveNameTests {
  private static let schema =
    "CREATE TABLE pages(id TEXT PRIMARY KEY NOT NULL, title TEXT, n INTEGER)"
  private static let start: Int64 = 1_700_000_000_000

  /// Gives a record in the cloud names of another type for those as which its lives go on.
  private func tell(_ type: String, in name: String, of bench: SyncHarness) throws {
    let field = RecordFormat.clockField
    var record = try #require(try bench.record(name))
    guard case .data(let bytes)? = record[field] else {
      Issue.record("\(name) has no clock")
      return
    }
    var clock = try ClockCoding().clock(from: Array(bytes))
    #expect(!clock.moves.isEmpty)
    clock.renameMoves { RecordName.key(of: $0) + ":" + type }
    record[field] = .data(Data(ClockCoding().bytes(of: clock)))
    try bench.save(record)
  }

  @Test(
    "What others have edited under the former key goes along, and nobody corrects the name for ever",
    arguments: ["notes", "logs"]
  )
  func goesOn(type: String) throws {
    // A table may have the former name since.
    let schema = Self.schema + "; CREATE TABLE logs(id TEXT PRIMARY KEY NOT NULL)"
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["pages", "logs"])
    try mac.execute("INSERT INTO pages VALUES('a', 'A', 1)", at: Self.start)
    try bench.sync(mac, phone)
    phone.engine.stop()
    try mac.execute("UPDATE pages SET id = 'b' WHERE id = 'a'", at: Self.start + 1_000)
    try phone.execute("UPDATE pages SET title = 'edited' WHERE id = 'a'", at: Self.start + 2_000)
    try bench.sync(mac)
    try tell(type, in: "a:pages", of: bench)
    try bench.sync(phone, mac, phone)
    let tags = try bench.cloudTags()
    try bench.sync(mac, phone, mac)
    #expect(try bench.cloudTags() == tags)
    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM pages") == ["'b'|'edited'|1"], "\(device.name)")
      #expect(try bench.unclean(device) == [])
    }
  }
}

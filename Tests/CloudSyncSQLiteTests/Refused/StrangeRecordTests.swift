import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSimulator
import Foundation
import Testing

@testable import CloudSyncSQLite

@Suite("Records that no engine has made")
struct StrangeRecordTests {
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, place);
    CREATE TABLE numbers(id INTEGER PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE nullable(id TEXT PRIMARY KEY, title TEXT);
    """

  private func options() -> SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.hasUniqueIntegerKeys = true
    return options
  }

  /// Saves records as an app would that knows nothing of engines.
  private func save(_ records: [Record], in bench: SyncHarness, as name: String) throws {
    let session = CloudSyncSession(
      operationHandler: bench.cloud.connect(
        device: name,
        account: AccountIdentity("owner"),
        zoneID: bench.zoneID
      ),
      zoneID: bench.zoneID,
      environment: bench.world.environment
    )
    session.start()
    _ = try session.modify(ModifyOperation(records: records))
    bench.world.advance(by: .seconds(60))
    #expect(session.state.modifyQueue.isEmpty)
    session.stop()
  }

  private func record(
    _ name: String,
    _ type: String,
    _ fields: [String: FieldValue],
    in bench: SyncHarness
  ) -> Record {
    var record = Record(
      recordType: type,
      recordID: RecordID(name: name, zoneID: bench.zoneID)
    )
    for (field, value) in fields { record[field] = value }
    return record
  }

  private func clock(of columns: [String]) -> FieldValue {
    var clock = RecordClock()
    clock.created = HybridTime(rawValue: 5 << 16)
    clock.columns = columns.map { ColumnTime(name: $0, time: clock.created) }
    return .data(Data(ClockCoding().bytes(of: clock)))
  }

  @Test("Each is parked with an error that names it, and the others are stored")
  func strange() throws {
    let bench = SyncHarness()
    let mac = try bench.device(
      "mac",
      Self.schema,
      tables: ["notes", "numbers", "nullable"],
      options: options()
    )
    let title: [String: FieldValue] = [
      "title": .string("x"), "cloudsync_clock": clock(of: ["title"]),
    ]
    let place = FieldValue.location(Location(latitude: 1, longitude: 2))
    let strange = [
      record("no-colon", "notes", title, in: bench),
      record("a:notes", "notes", ["title": .string("no clock")], in: bench),
      record(
        "b:notes",
        "notes",
        title.merging(["place": place, "cloudsync_clock": clock(of: ["place", "title"])]) { $1 },
        in: bench
      ),
      record("text:numbers", "numbers", title, in: bench),
      record("12:numbers", "numbers", title, in: bench),
      record("~i5:notes", "notes", title, in: bench),
      record("~n:nullable", "nullable", title, in: bench),
      record("~h" + String(repeating: "0", count: 64) + ":notes", "notes", title, in: bench),
    ]
    let good = record(
      "good:notes",
      "notes",
      title.merging([
        "foreign": .int64(1), "cloudsync_clock": clock(of: ["id", "title"]), "id": .string("good"),
      ]) {
        $1
      },
      in: bench
    )
    try save(strange + [good], in: bench, as: "stranger")

    try bench.sync(mac)

    #expect(try mac.lines("SELECT * FROM notes") == ["'good'|'x'|NULL"])
    #expect(try mac.lines("SELECT * FROM numbers UNION ALL SELECT * FROM nullable") == [])
    let parked = try bench.unclean(mac)
    #expect(parked.count == strange.count)
    for record in strange {
      let line = parked.first { $0.hasPrefix("'\(record.recordID.name)'|'parked'") }
      #expect(line?.contains("record \(record.recordID.name) of ") == true, "\(record.recordID)")
    }
    #expect(
      parked.contains { $0.contains("column \"place\" is of a kind that no column can hold") }
    )
    #expect(parked.contains { $0.contains("\"numbers\".\"id\"") })

    try mac.execute("UPDATE notes SET title = 'mine'")
    try bench.sync(mac)
    #expect(try bench.unclean(mac).count == strange.count)
    try save([record("a:notes", "notes", title, in: bench)], in: bench, as: "other")
    try bench.sync(mac)

    #expect(try mac.lines("SELECT id FROM notes ORDER BY id") == ["'a'", "'good'"])
    #expect(try bench.unclean(mac).count == strange.count - 1)
  }
}

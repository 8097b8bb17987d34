import CloudSyncCore
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Foundation
import Testing

@testable import CloudSyncSQLite

@Suite("How a row lies in a record")
struct RecordFormatTests {
  private let time = HybridTime(rawValue: 5)

  private func version(_ columns: [(String, FieldValue)]) -> RecordVersion {
    var clock = RecordClock()
    clock.created = time
    return RecordVersion(
      clock: clock,
      columns: columns.map { VersionedColumn(name: $0.0, value: $0.1, time: time) }
    )
  }

  @Test("Any value comes back out of any column, in one field of one kind")
  func values() throws {
    let bench = try FormatBench(seed: 1)
    for name in FormatBench.columns.map(\.name) + FormatBench.unknown {
      for value in FormatBench.values {
        let row = version([(name, value)])
        let record = bench.format.record(row, key: bench.key, zoneID: bench.zoneID)
        #expect(try bench.format.version(of: record) == row)
        let holders = record.fields.filter { $0.name != "cloudsync_clock" }
        #expect(holders.count == (value.isNull ? 0 : 1))
        for holder in holders {
          if holder.name.hasPrefix("cloudsync_value_") { #expect(holder.value.dataValue != nil) }
          if holder.name.hasPrefix("cloudsync_asset_") { #expect(holder.value.assetValue != nil) }
        }
        #expect(throws: Never.self) { try RecordRules.check(record, zone: bench.zoneID) }
      }
    }
  }

  @Test("Fields are named as the columns; a value of another kind lies aside")
  func names() throws {
    let bench = try FormatBench(seed: 1)
    let row = version([
      ("title", "Tea"), ("due date", .int64(3)), ("price", .double(2)), ("photo", .null),
      ("count", .list([.data(Data([0]))])),
    ])
    let record = bench.format.record(row, key: bench.key, zoneID: bench.zoneID)
    #expect(
      record.fields.map(\.name) == [
        "cloudsync_clock", "cloudsync_value_cloudsync_column_due_20date", "cloudsync_value_count",
        "price", "title",
      ]
    )
    #expect(record["cloudsync_value_count"]?.dataValue == Data([5, 0]))
    #expect(record.recordType == "notes" && record.recordID.name == "row-1:notes")
    #expect(
      bench.format.asideFields(of: row) == [
        "cloudsync_value_count", "cloudsync_value_cloudsync_column_due_20date",
      ]
    )
  }

  @Test("An edit makes of what the cloud has exactly the record that the version has")
  func edits() throws {
    for id in ["Row-1", String(repeating: "Long", count: 100)] {
      var bench = try FormatBench(seed: 2, id: id)
      for _ in 0..<SuiteSize.count(80, long: 20_000) {
        let base = bench.version(after: bench.random.chance(10) ? bench.version(after: nil) : nil)
        var row = bench.version(after: base)
        if bench.random.chance(20) {
          row = base
          row.end(
            at: bench.random.time(),
            deletes: bench.random.chance(50) ? .deleteWins : .editWins
          )
        }
        let server = bench.format.record(base, key: bench.key, zoneID: bench.zoneID)
        #expect(try bench.format.version(of: server) == base)
        let known = bench.known(base, under: row)
        let edit = bench.format.edit(row, over: known, key: bench.key, zoneID: bench.zoneID)
        let whole = server.applying(edit)
        #expect(edit.changeTag == "7")
        #expect(try bench.format.version(of: whole) == row)
        let expected = bench.format.record(row, key: bench.key, zoneID: bench.zoneID)
        guard whole.fields == expected.fields else {
          return #expect(whole.fields == expected.fields)
        }
      }
    }
  }

  @Test("An edit has the clock, the columns that differ, and nothing else")
  func smallEdits() throws {
    let bench = try FormatBench(seed: 1)
    let base = version([
      ("id", "row-1"), ("title", "Tea"), ("count", 1), ("price", .int64(3)),
      ("photo", .data(Data())),
      ("r", .null), ("extra", 4),
    ])
    let names = { (row: RecordVersion) in
      let edit = bench.format.edit(
        row,
        over: bench.known(base, under: row),
        key: bench.key,
        zoneID: bench.zoneID
      )
      return edit.fields.filter { $0.name != "cloudsync_clock" }
        .map { $0.value.isNull ? "-" + $0.name : $0.name }
    }
    #expect(names(base) == [])
    let set = { (name: String, value: FieldValue) in
      var row = base
      row.set(VersionedColumn(name: name, value: value, time: HybridTime(rawValue: 9)))
      return names(row)
    }
    #expect(set("title", "Milk") == ["title"])
    #expect(set("title", .null) == ["-title"])
    #expect(set("price", .int64(4)) == ["cloudsync_value_price"])
    #expect(set("price", .double(4)) == ["-cloudsync_value_price", "price"])
    #expect(set("count", "x") == ["cloudsync_value_count", "-count"])
    #expect(set("parent", "p") == ["cloudsync_column_parent"])
    #expect(
      set("extra", 5) == [
        "-cloudsync_asset_extra", "-cloudsync_textasset_extra", "cloudsync_value_extra", "-extra",
      ]
    )
    var same = base
    same.set(VersionedColumn(name: "title", value: "Cup", time: time))
    #expect(names(same) == ["title"])
  }

  @Test("A counter's sum is shown to others, and read from the shares alone")
  func counters() throws {
    let bench = try FormatBench(seed: 1)
    var row = version([("title", "Tea")])
    for (column, writer, sum) in [("n", 1, 3), ("n", 2, 4), ("r", 1, 5)] as [(String, Int64, Int64)]
    {
      row.set(CounterShare(column: column, writer: writer, time: time, sum: .whole(sum)))
    }
    var record = bench.format.record(row, key: bench.key, zoneID: bench.zoneID)
    #expect(record["n"] == 7 && record["r"] == 5.0)
    record["n"] = 99
    record["r"] = nil
    #expect(try bench.format.version(of: record) == row)
    let known = CloudRecord(tag: "1", clock: row.clock)
    row.set(CounterShare(column: "n", writer: 2, time: HybridTime(rawValue: 6), sum: .real(0.5)))
    let edit = bench.format.edit(row, over: known, key: bench.key, zoneID: bench.zoneID)
    #expect(edit.fields.map(\.name) == ["cloudsync_clock", "cloudsync_value_n", "n"])
    #expect(edit["n"] == .null)
  }

  @Test("Fields that belong to no column are kept beside the row, and come back into its record")
  func foreignFields() throws {
    let bench = try FormatBench(seed: 1)
    var record = bench.format.record(version([("id", "a")]), key: bench.key, zoneID: bench.zoneID)
    // A value of a column that the clock does not know, one of a newer engine, and one that is aside of nothing.
    for name in ["title", "mood", "cloudsync_other", "cloudsync_value_id_2"] { record[name] = "x" }
    let row = try #require(try bench.format.version(of: record))
    #expect(
      row.foreignFields.map(\.name) == ["cloudsync_other", "cloudsync_value_id_2", "mood", "title"]
    )
    #expect(row.columnNames == ["id"])
    #expect(
      bench.format.record(row, key: bench.key, zoneID: bench.zoneID).fields == record.fields
    )
    // Once the row has the column, its field is foreign no more.
    var later = row
    later.set(VersionedColumn(name: "title", value: .null, time: .zero))
    let edit = bench.format.edit(
      later,
      over: bench.known(row, under: later),
      key: bench.key,
      zoneID: bench.zoneID
    )
    #expect(edit.fields.map(\.name) == ["cloudsync_clock", "title"] && edit["title"] == .null)
  }

  @Test("A tombstone has nothing but its clock, and of its key what the name does not tell")
  func tombstones() throws {
    for (id, count) in [("Row-1", 1), (String(repeating: "Long", count: 100), 2)] {
      let bench = try FormatBench(seed: 1, id: id)
      var row = version([("id", .string(id)), ("title", .int64(1)), ("extra", "x")])
      row.foreignFields = [RecordField(name: "mood", value: "good")]
      let server = bench.format.record(row, key: bench.key, zoneID: bench.zoneID)
      var tombstone = row
      tombstone.end(at: HybridTime(rawValue: 9), deletes: .deleteWins)
      let edit = bench.format.edit(
        tombstone,
        over: bench.known(row, under: tombstone),
        key: bench.key,
        zoneID: bench.zoneID
      )
      let whole = server.applying(edit)
      #expect(whole.fields.count == count)
      #expect(try bench.format.version(of: whole) == tombstone)
      #expect(try bench.format.key(of: whole) == bench.key)
      var kept = row
      kept.end(at: HybridTime(rawValue: 9), deletes: .editWins)
      #expect(
        bench.format
          .edit(
            kept,
            over: bench.known(row, under: row),
            key: bench.key,
            zoneID: bench.zoneID
          )
          .fields.map(\.name) == ["cloudsync_clock", "mood"]
      )
    }
  }

  @Test(
    "A record without a clock is none of a row's; one whose clock or value is damaged is an error"
  )
  func damage() throws {
    let bench = try FormatBench(seed: 1)
    let format = bench.format
    var record = format.record(version([("title", 1)]), key: bench.key, zoneID: bench.zoneID)
    for bytes in [[], [9], [2, 0], [6, 0], [3, 0xff], [1] + Array(repeating: 0, count: 9)]
      as [[UInt8]]
    {
      var other = record
      other["cloudsync_value_title"] = .data(Data(bytes))
      #expect(throws: CodedError.self) { try format.version(of: other) }
    }
    record["cloudsync_value_title"] = "x"
    #expect(throws: CodedError.self) { try format.version(of: record) }
    record["cloudsync_clock"] = "x"
    #expect(throws: CodedError.self) { try format.version(of: record) }
    record["cloudsync_clock"] = nil
    #expect(try format.version(of: record) == nil)
  }

  @Test("The field of a column that another device has dropped is the column's own again")
  func droppedElsewhere() throws {
    let bench = try FormatBench(seed: 1)
    var row = version([("title", "Tea")])
    row.foreignFields = [RecordField(name: "title", value: "Coffee")]
    let record = bench.format.record(row, key: bench.key, zoneID: bench.zoneID)
    #expect(record["title"]?.stringValue == "Tea")
    #expect(record["cloudsync_value_title"] == nil)
  }

  @Test("A save leaves a value that lies aside, and that nobody has edited, where it is")
  func staysAside() throws {
    let bench = try FormatBench(seed: 1)
    var row = version([("title", "Tea")])
    let known = CloudRecord(tag: "1", clock: row.clock, aside: ["cloudsync_value_title"])
    row.deleted = HybridTime(rawValue: 9)
    let edit = bench.format.edit(row, over: known, key: bench.key, zoneID: bench.zoneID)
    #expect(edit.fields.map(\.name) == ["cloudsync_clock"])
    #expect(bench.format.asideFields(of: row).isEmpty)
    #expect(bench.format.asideFields(of: row, savedOver: known) == ["cloudsync_value_title"])

    row.set(VersionedColumn(name: "title", value: "Coffee", time: HybridTime(rawValue: 10)))
    let next = bench.format.edit(row, over: known, key: bench.key, zoneID: bench.zoneID)
    #expect(next["title"]?.stringValue == "Coffee")
    #expect(next.fields.contains { $0.name == "cloudsync_value_title" && $0.value.isNull })
    #expect(bench.format.asideFields(of: row, savedOver: known).isEmpty)
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Foundation
import Testing

@Suite("RecordLayout")
struct RecordLayoutTests {
  private let recordID = RecordID(name: "a:notes", zoneID: ZoneID(name: "zone"))
  private let asset = FieldValue.asset(
    Asset(sha256: Data(repeating: 7, count: 32), byteCount: 9, location: "file")
  )

  private func layout() throws -> RecordLayout {
    try #require(
      RecordLayout(
        table: "notes",
        columns: [
          ("id", "TEXT"), ("title", "TEXT"), ("count", "INTEGER"), ("price", "NUMERIC"),
          ("photo", "BLOB"), ("due date", "TEXT"), ("parent", "TEXT"),
        ]
      )
    )
  }

  private func column(_ name: String, _ value: FieldValue, _ time: Int64) -> VersionedColumn {
    VersionedColumn(name: name, value: value, time: HybridTime(rawValue: time))
  }

  @Test("A row comes back out of its record, NULL and unknown columns told apart")
  func roundTrip() throws {
    let row = RowVersion(
      columns: [
        column("title", "Tea", 3), column("id", "a", 1), column("due date", .null, 2),
        column("price", 5, 9), column("photo", asset, 4),
      ],
      createdAt: HybridTime(rawValue: 1)
    )
    let record = try layout().record(row, recordID: recordID)

    #expect(RowVersion(record: record) == row)
    #expect(record.recordType == "notes")
    #expect(record["title"] == "Tea")
    #expect(record["cloudsync_time_title"] == 3)
    #expect(record["cloudsync_time"] == 9)
    #expect(record["cloudsync_time_cloudsync_column_due_20date"] == 2)
    #expect(record["cloudsync_column_due_20date"] == nil)
    #expect(record["price"] == nil)
    #expect(record["cloudsync_integer_price"] == 5)
    #expect(record["cloudsync_asset_photo"] == asset)
    #expect(row["count"] == nil)
    try RecordRules.check(record, zone: recordID.zoneID)
  }

  @Test(
    "Any value comes back in any column",
    arguments: ["title", "count", "price", "photo", "new"]
  )
  func anyValue(name: String) throws {
    var server: Record?
    let values: [SQLiteValue] = [
      .null, .text("a"), .integer(1), .malformedText([0xff]), .real(-0.0), .blob([0xff]),
      .text("a\u{0}"), .null,
    ]
    for (number, value) in values.enumerated() {
      guard case .field(let field) = ValueCodec.encode(value, assetThreshold: 9) else { continue }
      let row = RowVersion(columns: [column(name, field, Int64(number))])
      let edit = try layout()
        .edit(
          columns: row.columns,
          createdAt: nil,
          deletedAt: nil,
          of: server,
          recordID: recordID
        )
      let whole = try server?.applying(edit) ?? layout().record(row, recordID: recordID)
      server = whole

      #expect(RowVersion(record: whole) == row)
      let holders = whole.fields.filter { !$0.name.contains("_time") }
      #expect(holders.count == (value == .null ? 0 : 1))
      for field in holders { #expect(!field.value.isNull && field.value.listValue == nil) }
    }
  }

  @Test("An edit sets its columns only, and carries the tag of what it was made from")
  func edit() throws {
    let row = RowVersion(columns: [column("id", "a", 1), column("title", "Tea", 50)])
    let server = try layout().record(row, recordID: recordID).withChangeTag("7")
    let edit = try layout()
      .edit(
        columns: [column("count", 1, 4)],
        createdAt: nil,
        deletedAt: HybridTime(rawValue: 2),
        of: server,
        recordID: recordID
      )

    #expect(
      edit.fields.map(\.name)
        == ["cloudsync_deleted", "cloudsync_time", "cloudsync_time_count", "count"]
    )
    #expect(edit["cloudsync_time"] == 50)
    #expect(edit.changeTag == "7")
    let deleted = try #require(RowVersion(record: server.applying(edit)))
    #expect(deleted.isDeleted)
    #expect(deleted["title"] == row["title"])
  }

  @Test("Fields of others are kept beside the row, and come back into its record")
  func unknownFields() throws {
    var record = try layout()
      .record(RowVersion(columns: [column("id", "a", 1)]), recordID: recordID)
    record["mood"] = "good"
    record["cloudsync_time_odd"] = "no time"
    record["cloudsync_other"] = 1
    record["zeta"] = [1, 2]
    let row = try #require(RowVersion(record: record))

    #expect(
      row.unknownFields.map(\.name) == ["cloudsync_other", "cloudsync_time_odd", "mood", "zeta"]
    )
    #expect(row.columns.map(\.name) == ["id"])
    #expect(try layout().record(row, recordID: recordID) == record)
  }

  @Test("A record without the row's time is none of a row's")
  func foreign() {
    #expect(RowVersion(record: Record(recordType: "notes", recordID: recordID)) == nil)
    let odd = Record(recordType: "notes", recordID: recordID, fields: ["cloudsync_time": "1"])
    #expect(RowVersion(record: odd) == nil)
  }

  @Test("A row is deleted unless it was made again later")
  func life() {
    let time = { (number: Int64) in HybridTime(rawValue: number) }

    #expect(!RowVersion(columns: []).isDeleted)
    #expect(RowVersion.missing.isDeleted)
    #expect(RowVersion(columns: [], createdAt: time(1), deletedAt: time(1)).isDeleted)
    #expect(!RowVersion(columns: [], createdAt: time(2), deletedAt: time(1)).isDeleted)
  }

  @Test("The record of a new row is the same, whether it is made quickly or not")
  func newRows() throws {
    let layout = try #require(
      RecordLayout(
        table: "notes",
        columns: [
          ("id", "TEXT"), ("b c", "BLOB"), ("a", "INTEGER"), ("z", "REAL"), ("record_id", ""),
        ]
      )
    )
    let recordID = RecordID(name: "x:notes", zoneID: ZoneID(name: "Data"))
    let (time, created) = (HybridTime(rawValue: 7), HybridTime(rawValue: 9))
    let values: [SQLiteValue] = [
      .text("x"), .blob([1, 2]), .integer(3), .null, .blob([]),
    ]
    let columns = zip(["id", "b c", "a", "z", "record_id"], values)
      .map { name, value -> VersionedColumn in
        guard case .field(let field) = ValueCodec.encode(value, assetThreshold: .max) else {
          return VersionedColumn(name: name, value: .null, time: time)
        }
        return VersionedColumn(name: name, value: field, time: time)
      }
    var slow = layout.record(
      RowVersion(columns: columns, createdAt: created),
      recordID: recordID
    )
    slow["cloudsync_writer"] = .int64(5)
    let new = RecordLayout.NewRow(editedAt: time, createdAt: created, writer: 5)
    let encode: (SQLiteValue) -> FieldValue = { value in
      guard case .field(let field) = ValueCodec.encode(value, assetThreshold: .max) else {
        return .null
      }
      return field
    }
    #expect(layout.newRecord(values, new, recordID: recordID, encode) == slow)
    // Text in a column of numbers lies beside it.
    let odd: [SQLiteValue] = [.text("x"), .null, .text("3"), .null, .null]
    #expect(layout.newRecord(odd, new, recordID: recordID, encode) == nil)
  }
}

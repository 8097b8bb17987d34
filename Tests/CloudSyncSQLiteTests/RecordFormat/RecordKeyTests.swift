import CloudSyncCore
import CloudSyncSQLiteSupport
import Foundation
import Testing

@testable import CloudSyncSQLite

@Suite("Keys as they are compared")
struct RecordKeyTests {
  private func format(
    _ collations: [String],
    type: String = "TEXT"
  ) throws(RecordFormatError) -> RecordFormat {
    let names = collations.indices.map { "k\($0)" }
    return try RecordFormat(
      table: "t",
      columns: names.map { ($0, type) },
      key: Array(zip(names, collations)),
      numbers: ColumnNumbers(names),
      assetThreshold: 1000
    )
  }

  @Test(
    "Two keys have one name if and only if SQLite holds them to be equal",
    arguments: ["BINARY", "nocase", "RTRIM"]
  )
  func collations(name: String) throws {
    let format = try format([name], type: "")
    let keys: [SQLiteValue] = [
      .null, .text(""), .text(" "), .text("a"), .text("A"), .text("a "), .text("A  "), .text(" a"),
      .text("é"), .text("É"), .text("e\u{301}"), .text("a\u{0}"), .text("a\u{0}b"),
      .text("A\u{0}C"), .text("a\u{0}bc"), .text("a\u{0} "), .text("@["), .text("`{"),
      .malformedText([0xff]), .malformedText([0x41, 0xff]), .malformedText([0x61, 0xff]),
      .malformedText([0xff, 0x20]), .blob([0x61]), .blob([0x41]), .blob([]), .integer(1), .real(1),
      .real(-0.0), .integer(0), .real(0.5), .text("1"), .integer(.max), .real(0x1p63),
      .real(9_007_199_254_740_992), .integer(9_007_199_254_740_993), .text("_a"), .text("~a"),
      .text("é "), .text("a\t"),
    ]
    let connection = try SQLiteConnection(path: ":memory:")
    for one in keys {
      for other in keys {
        let sql =
          "SELECT x.v IS y.v COLLATE \(name) FROM (SELECT \(one.literal) AS v) x,"
          + " (SELECT \(other.literal) AS v) y"
        let statement = try connection.prepare(sql)
        #expect(try statement.step())
        let isEqual = statement.integer(0) == 1
        let (left, right) = (format.key(spelled: [one]), format.key(spelled: [other]))
        #expect((left == right) == isEqual, "\(one) and \(other)")
        #expect((left.name == right.name) == isEqual, "\(one) and \(other)")
        #expect((left.values == right.values) == isEqual, "\(one) and \(other)")
      }
    }
  }

  @Test("A record tells its key by its name, and how it is spelled by its fields")
  func spelling() throws {
    let format = try format(["NOCASE", "RTRIM"])
    let spelled: [SQLiteValue] = [.text("Ab"), .text("c  ")]
    let key = format.key(spelled: spelled)
    #expect(key.values == [.text("ab"), .text("c")])
    #expect(key.name == "~tab,tc:t")
    let zone = ZoneID(name: "Data")
    let record = try #require(
      format.newRecord(
        values: spelled,
        clock: format.newClock(at: .zero, created: .zero),
        recordID: RecordID(name: key.name, zoneID: zone)
      )
    )
    #expect(record["k0"] == "Ab" && record["k1"] == "c  ")
    #expect(try format.key(of: record) == key)

    // The fields of another row's key, another spelling in the name, another table, another count of columns.
    var other = record
    other["k0"] = "ac"
    #expect(try format.key(of: other) == nil)
    other["k0"] = nil
    #expect(try format.key(of: other) == key)
    for name in ["~tAb,tc:t", "~tab,tc:u", "~tab:t", "ab:t", "x"] {
      let named = Record(recordType: "t", recordID: RecordID(name: name, zoneID: zone))
      #expect(try format.key(of: named) == nil)
    }
  }

  @Test("A key whose name is a digest is told by its fields, which have to give that name")
  func digests() throws {
    let format = try format(["BINARY", "NOCASE"])
    let key = format.key(spelled: [.text(String(repeating: "K", count: 300)), .null])
    #expect(RecordName.isDigest(key.name))
    var record = format.record(
      RecordVersion(
        columns: [
          VersionedColumn(
            name: "k0",
            value: .string(String(repeating: "K", count: 300)),
            time: .zero
          ), VersionedColumn(name: "k1", value: .null, time: .zero),
        ]
      ),
      key: key,
      zoneID: ZoneID(name: "Data")
    )
    #expect(try format.key(of: record) == key)
    record["k1"] = "x"
    #expect(try format.key(of: record) == nil)
  }

  @Test("The quick way to a key gives what the slow one does")
  func quickNames() throws {
    let texts = [
      "a", "A", "", " ", "a ", "_a", "~a", "a:t", "é", "\u{7f}", "a\u{0}", "a,%b",
      String(repeating: "k", count: 253), String(repeating: "k", count: 254),
    ]
    for collation in ["BINARY", "NOCASE", "RTRIM"] {
      let format = try format([collation])
      for text in texts {
        let key = format.key(spelled: [.text(text)])
        #expect(format.key(ofRow: [.text(text)], named: key.name) == key)
        for name in ["\(text):t", "\(text):u", "x\(text):t", "\(text)t"] {
          let found = format.key(ofRow: [.text(text)], named: name)
          #expect(found == (UTF8Bytes.equal(name, key.name) ? key : nil))
        }
      }
    }
  }

  @Test("A table without a format is refused")
  func errors() {
    #expect(throws: RecordFormatError.unknownCollation("mine")) { try format(["mine"]) }
    let long = String(repeating: "é", count: 200)
    for (table, column, key, error) in [
      (long, "a", "a", RecordFormatError.nameTooLong(long)),
      ("t", long, long, .nameTooLong(long)), ("t", "a", "b", .missingKeyColumn("b")),
    ] {
      #expect(throws: error) {
        try RecordFormat(
          table: table,
          columns: [(column, "TEXT")],
          key: [(key, "BINARY")],
          numbers: ColumnNumbers(),
          assetThreshold: 9
        )
      }
    }
  }
}

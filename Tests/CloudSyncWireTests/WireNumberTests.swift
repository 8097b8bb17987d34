import CloudSyncCore
import CloudSyncWire
import Foundation
import Testing

@Suite("Numbers on the wire")
struct WireNumberTests {
  private static let zone = ZoneID(name: "Notes")

  /// The value of a field that came as JSON; nil if its record could not be read.
  private func field(_ json: String) throws -> FieldValue? {
    let text = """
      {"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"t","records":[
      {"recordName":"n","recordType":"Note","fields":{"f":\(json)}}]}]}
      """
    let changes = WireZoneChanges(zoneID: Self.zone, syncToken: nil)
    let page = try changes.page(reading: Array(text.utf8)).get()
    #expect(page.changedRecords.count + page.failures.count == 1)
    return page.changedRecords.first?["f"]
  }

  @Test(
    "48. Whole numbers keep every digit, with a point and an exponent too",
    arguments: [
      ("9007199254740993.0", 9_007_199_254_740_993), ("9007199254740993e0", 9_007_199_254_740_993),
      ("9.223372036854775807e18", .max), ("9223372036854775807.000", .max),
      ("-9223372036854775808.0", .min), ("-92233720368547758080E-1", .min),
      ("1e18", 1_000_000_000_000_000_000),
      ("0e999999999999", 0), ("-0.0", 0), ("100e-2", 1), ("0.5e1", 5), ("1e+2", 100),
    ] as [(String, Int64)]
  )
  func whole(text: String, value: Int64) throws {
    for json in [text, "\"\(text)\""] {
      #expect(try field(#"{"type":"INT64","value":\#(json)}"#) == .int64(value))
    }
  }

  @Test(
    "48. What is no whole number of 64 bits fails its record",
    arguments: [
      "9223372036854775808", "9223372036854775808.0", "-9223372036854775809.0", "0.5", "12e-1",
      "1e19", "1e999999999999999999999", "1e9223372036854775807", "1e-9223372036854775808", "\"\"",
      "\"-\"", "\"1.\"", "\".5\"", "\"1e\"", "\"0x10\"", "\"nan\"", "\"1 \"", "\"1\\u0000\"",
    ]
  )
  func notWhole(json: String) throws {
    #expect(try field(#"{"type":"INT64","value":\#(json)}"#) == nil)
  }

  @Test("A timestamp at the very beginning of time equals what comes back")
  func firstTimestamp() throws {
    let unit: Int64 = 1_000_000
    for nanoseconds: Int64 in [.min, .min + 1, .min + 775_808, .max, .max - 1, -1, 0] {
      let sent = Timestamp(nanoseconds: nanoseconds).rounded(toMultipleOf: unit)
      #expect(sent.nanoseconds % unit == 0)
      let record = Record(
        recordType: "Note",
        recordID: RecordID(name: "n", zoneID: Self.zone),
        fields: ["f": .timestamp(sent)]
      )
      let changes = WireZoneChanges(zoneID: Self.zone, syncToken: nil)
      let token = try #require(ChangeToken(Data([1])))
      let page = FetchOperation.Response(changedRecords: [record], changeToken: token)
      let read = try changes.page(reading: changes.body(of: .success(page))).get()
      #expect(read.changedRecords.first?["f"] == .timestamp(sent))
    }
  }
}

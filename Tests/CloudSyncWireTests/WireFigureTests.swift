import CloudSyncCore
import CloudSyncTestSupport
import CloudSyncWire
import Foundation
import Testing

/// Figures of the codec beside Foundation's coders, as a row of a table that `.ci/figures.sh` prints.
///
/// Nothing is asserted of times.
@Suite("Figures of the wire's codec")
struct WireFigureTests {
  /// A page as Foundation's coders know it, with the same members.
  private struct Page: Codable, Equatable {
    struct Value: Codable, Equatable {
      var value: String
      var type: String
    }
    struct Entry: Codable, Equatable {
      var recordName: String
      var recordType: String
      var recordChangeTag: String
      var fields: [String: Value]
    }
    struct Zone: Codable, Equatable {
      var records: [Entry]
      var moreComing: Bool
      var syncToken: String
    }
    var zones: [Zone]
  }

  private static let count = 200
  private static let zone = ZoneID(name: "Notes")
  private static let text = String(repeating: "a note of some bytes, ", count: 5)

  private static func record(_ number: Int) -> Record {
    Record(
      recordType: "Note",
      recordID: RecordID(name: "record-\(number)", zoneID: zone),
      fields: [
        "text": .string(text), "stars": .int64(Int64(number)), "title": .string("é \(number)"),
      ],
      changeTag: "tag-\(number)"
    )
  }

  private static func entry(_ number: Int) -> Page.Entry {
    Page.Entry(
      recordName: "record-\(number)",
      recordType: "Note",
      recordChangeTag: "tag-\(number)",
      fields: [
        "text": Page.Value(value: text, type: "STRING"),
        "stars": Page.Value(value: "\(number)", type: "INT64"),
        "title": Page.Value(value: "é \(number)", type: "STRING"),
      ]
    )
  }

  private static func median(_ rounds: Int, _ body: () throws -> Void) rethrows -> Double {
    var times: [Double] = []
    for _ in 0..<rounds {
      let start = ContinuousClock.now
      try body()
      let (seconds, attoseconds) = (ContinuousClock.now - start).components
      times.append(Double(seconds) + Double(attoseconds) / 1e18)
    }
    return max(1e-9, times.sorted()[rounds / 2])
  }

  @Test("Codec and coders write and read the same page, and how fast")
  func page() throws {
    let isAsked = ProcessInfo.processInfo.environment["CLOUDSYNC_FIGURES"] == "1"
    let rounds = isAsked ? 51 : 1
    let response = FetchOperation.Response(
      changedRecords: (0..<Self.count).map(Self.record),
      changeToken: ChangeToken(Data([1, 2, 3])),
      hasMore: false
    )
    let changes = WireZoneChanges(zoneID: Self.zone, syncToken: nil)
    var bytes: [UInt8] = []
    let writing = Self.median(rounds) { bytes = changes.body(of: .success(response)) }
    var found = 0
    let reading = try Self.median(rounds) {
      found = try changes.page(reading: bytes).get().changedRecords.count
    }
    #expect(found == Self.count)

    let zones = [
      Page.Zone(records: (0..<Self.count).map(Self.entry), moreComing: false, syncToken: "AQID")
    ]
    let page = Page(zones: zones)
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    var data = Data()
    let encoding = try Self.median(rounds) { data = try encoder.encode(page) }
    var again: Page?
    let decoding = try Self.median(rounds) { again = try decoder.decode(Page.self, from: data) }
    #expect(again == page)
    // Foundation reads what the codec writes, as far as it knows the members.
    let common = try decoder.decode(Page.self, from: Data(bytes))
    #expect(common.zones.first?.records == page.zones.first?.records)

    guard isAsked else { return }
    func perSecond(_ time: Double) -> Int { Int(Double(Self.count) / time) }
    func ratio(_ base: Double, _ time: Double) -> Double { (base / time * 100).rounded() / 100 }
    print(
      "| wire codec, pages of \(Self.count) | written \(perSecond(writing)), read"
        + " \(perSecond(reading)) records/s; \(ratio(encoding, writing)),"
        + " \(ratio(decoding, reading)) times | Foundation \(perSecond(encoding)),"
        + " \(perSecond(decoding)) records/s | ≥ 5 times |"
    )
  }
}

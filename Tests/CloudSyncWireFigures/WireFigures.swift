import CloudSyncCore
import CloudSyncWire
import Foundation

/// Figures of the codec beside Foundation's coders on the same page, as a row of a table that `.ci/figures.sh` prints.
///
/// A program and no test: the optimizer of Swift 6.3 crashes on tests of other modules, and tests are built together.
enum WireFigures {
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

  private static func median(_ body: () throws -> Void) rethrows -> Double {
    let rounds = 51
    var times: [Double] = []
    for _ in 0..<rounds {
      let start = ContinuousClock.now
      try body()
      let (seconds, attoseconds) = (ContinuousClock.now - start).components
      times.append(Double(seconds) + Double(attoseconds) / 1e18)
    }
    return max(1e-9, times.sorted()[rounds / 2])
  }

  /// Seconds that the codec takes to write and to read the page, and the bytes that it has written.
  private static func codec() throws -> (writing: Double, reading: Double, bytes: [UInt8]) {
    let response = FetchOperation.Response(
      changedRecords: (0..<count).map(record),
      changeToken: ChangeToken(Data([1, 2, 3])),
      hasMore: false
    )
    let changes = WireZoneChanges(zoneID: zone, syncToken: nil)
    var bytes: [UInt8] = []
    let writing = median { bytes = changes.body(of: .success(response)) }
    var found = 0
    let reading = try median { found = try changes.page(reading: bytes).get().changedRecords.count }
    guard found == count else { throw Failure() }
    return (writing, reading, bytes)
  }

  static func run() throws {
    let codec = try codec()
    let zones = [
      Page.Zone(records: (0..<count).map(entry), moreComing: false, syncToken: "AQID")
    ]
    let page = Page(zones: zones)
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    var data = Data()
    let encoding = try median { data = try encoder.encode(page) }
    var again: Page?
    let decoding = try median { again = try decoder.decode(Page.self, from: data) }
    // Foundation reads what the codec writes, as far as it knows the members: both do the same work.
    let common = try decoder.decode(Page.self, from: Data(codec.bytes))
    guard again == page, common.zones.first?.records == page.zones.first?.records else {
      throw Failure()
    }

    func perSecond(_ time: Double) -> Int { Int(Double(count) / time) }
    func ratio(_ base: Double, _ time: Double) -> Double { (base / time * 100).rounded() / 100 }
    print(
      "| wire codec, pages of \(count) | written \(perSecond(codec.writing)), read"
        + " \(perSecond(codec.reading)) records/s; \(ratio(encoding, codec.writing)),"
        + " \(ratio(decoding, codec.reading)) times | Foundation \(perSecond(encoding)),"
        + " \(perSecond(decoding)) records/s | ≥ 5 times |"
    )
  }

  private struct Failure: Error, CustomStringConvertible {
    let description = "the codec and Foundation's coders do not read the same page"
  }
}

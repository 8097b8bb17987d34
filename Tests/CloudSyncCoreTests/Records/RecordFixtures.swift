import Foundation
import Testing

@testable import CloudSyncCore

/// Values that the tests of records and conflicts share.
enum RecordFixtures {
  static let zone = ZoneID(name: "Notes")

  static func id(_ name: String) -> RecordID { RecordID(name: name, zoneID: zone) }

  static func record(
    _ fields: [String: FieldValue] = [:],
    tag: String? = nil,
    modified: Int64? = nil
  ) -> Record {
    var record = Record(recordType: "Note", recordID: id("n1"), fields: fields, changeTag: tag)
    record.modificationDate = modified.map { Timestamp(nanoseconds: $0) }
    return record
  }

  static let asset = Asset(
    sha256: Data((0..<32).map { UInt8($0 * 7 % 256) }),
    byteCount: 1 << 40,
    location: "/tmp/é.png"
  )

  static let fullLocation = Location(
    latitude: -0.0,
    longitude: 179.999_999_999_9,
    altitude: .nan,
    horizontalAccuracy: .infinity,
    verticalAccuracy: -.infinity,
    course: .leastNonzeroMagnitude,
    speed: 0.1,
    timestamp: Timestamp(nanoseconds: 1_700_000_000_123_456_789)
  )

  /// One value at least of every kind, and the awkward ones.
  static let values: [FieldValue] = [
    .null, "", "plain", "é", "e\u{301}", "\u{0}\u{1f469}\u{200d}\u{1f680}", "\u{2028}\"\\\n",
    .int64(0), .int64(.min), .int64(.max), .int64(-1), .int64(1 << 53 + 1),
    .double(0.0), .double(-0.0), .double(0.1), .double(.infinity), .double(-.infinity),
    .double(.nan), .double(Double(bitPattern: 0x7ff8_dead_beef_0001)),
    .double(Double(bitPattern: 0xfff0_0000_0000_0001)), .double(.greatestFiniteMagnitude),
    .double(.leastNonzeroMagnitude), .double(.pi),
    .timestamp(Timestamp(nanoseconds: .min)), .timestamp(Timestamp(nanoseconds: .max)),
    .timestamp(Timestamp(nanoseconds: 1_700_000_000_123_456_789)),
    .data(Data()), .data(Data([0])), .data(Data((0..<256).map { UInt8($0) })),
    .reference(Reference(recordID: id("target"))),
    .reference(Reference(recordID: id("target"), action: .deleteSelf)),
    .asset(asset), .location(Location(latitude: 0, longitude: 0)), .location(fullLocation),
    [], [.null], [1, 2.5, "x"], [[[]], [["deep", [.double(-0.0)]]]],
    .redacted(Redaction(kind: "string", byteCount: 12, digest: "d41d8c")),
  ]

  /// A record with a value in every place.
  static let fullRecord: Record = {
    var fields: [String: FieldValue] = [:]
    for (index, value) in values.enumerated() { fields["field_\(index)"] = value }
    var record = Record(
      recordType: "Everything",
      recordID: id("full"),
      fields: fields,
      changeTag: "tag-é"
    )
    record.encryptedKeys = ["field_2", "field_1", "field_2"]
    record.parent = id("parent")
    record.share = RecordID(
      name: "share",
      zoneID: ZoneID(name: "Notes", owner: "_other", scope: .shared)
    )
    record.creationDate = Timestamp(nanoseconds: -1)
    record.modificationDate = Timestamp(nanoseconds: 1)
    return record
  }()

  /// Numbers that follow from a seed.
  struct Random {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  }

  static func throughJSON<T: Codable>(_ value: T) throws -> T {
    try JSONDecoder().decode(T.self, from: JSONEncoder().encode(value))
  }
}

func expectRoundTrips<T: CodedValue>(
  _ value: T,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let viaBytes = try T(codedBytes: value.codedBytes)
  let viaJSON = try RecordFixtures.throughJSON(value)

  #expect(viaBytes == value, sourceLocation: sourceLocation)
  #expect(viaBytes.codedBytes == value.codedBytes, sourceLocation: sourceLocation)
  #expect(viaJSON == value, sourceLocation: sourceLocation)
  #expect(viaJSON.codedBytes == value.codedBytes, sourceLocation: sourceLocation)
  #expect(viaBytes.hashValue == value.hashValue, sourceLocation: sourceLocation)
}

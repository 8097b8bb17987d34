import Foundation

@testable import CloudSyncCore
@testable import CloudSyncRecordCoding

/// Models that the tests of the record coders share.
enum CodingModels {
  static let id = RecordID(name: "n1", zoneID: ZoneID(name: "Notes"))

  enum Mood: String, Codable, CaseIterable { case calm, wild }
  enum Level: Int, Codable, CaseIterable {
    case low = 1
    case high = 9
  }

  struct Point: Codable, Hashable {
    var x: Double
    var label: String?
    var at: Date
    var price: Decimal
    var bytes: Data
    var big: UInt64
    var ratio: Float
    var id: RecordID
    var tags: Set<String>
  }

  /// One property at least of every kind.
  struct Everything: Codable, Equatable {
    var text: String
    var flag: Bool
    var int: Int
    var int8: Int8
    var uint16: UInt16
    var uint64: UInt64
    var double: Double
    var float: Float
    var date: Date
    var data: Data
    var uuid: UUID
    var url: URL
    var decimal: Decimal
    var timestamp: Timestamp
    var value: FieldValue
    var reference: Reference
    var asset: Asset
    var location: Location
    var target: RecordID
    var mood: Mood
    var level: Level
    var numbers: [Int]
    var grid: [[Double]]
    var dates: [Date]
    var gaps: [String?]
    var moods: Set<Mood>
    var point: Point
    var points: [Point]
    var byName: [String: [Int]]
    var byNumber: [Int: String]
    var byMood: [Mood: Date]
    var note: String?
    var count: Int?
    var other: Point?
  }

  static func date(_ random: inout SplitMix64) -> Date {
    // Between the years 1742 and 2259; a quarter of them in whole seconds.
    let seconds = Double(Int64(truncatingIfNeeded: random.next()) >> 31) * 1.9
    let date = seconds + Double(random.next() >> 11) * 0x1p-53
    // Near 2001 a Date is finer than a nanosecond.
    let isNear = abs(date) < 0x1p23
    return Date(
      timeIntervalSinceReferenceDate: isNear || random.next() % 4 == 0 ? date.rounded() : date
    )
  }

  static func text(_ random: inout SplitMix64) -> String {
    let parts = ["a", "é", "e\u{301}", "\"", "\\", "\u{0}", "\n", "/", "🚀", "{", "[1]", "null"]
    return (0..<Int(random.next() % 6))
      .map { _ in parts[Int(random.next() % UInt64(parts.count))] }.joined()
  }

  static func double(_ random: inout SplitMix64) -> Double {
    switch random.next() % 6 {
    case 0: return -0.0
    case 1: return Double(Int64(truncatingIfNeeded: random.next()))
    case 2: return .infinity
    default:
      let number = Double(bitPattern: random.next())
      return number.isNaN ? 0.1 : number
    }
  }

  static func decimal(_ random: inout SplitMix64) -> Decimal {
    let digits = Decimal(Int64(truncatingIfNeeded: random.next()))
    return digits / [1, 10, 1_000, 1_000_000_000_000][Int(random.next() % 4)]
  }

  static func data(_ random: inout SplitMix64) -> Data {
    Data((0..<Int(random.next() % 9)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
  }

  static func uuid(_ random: inout SplitMix64) -> UUID {
    let bytes = (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  static func recordID(_ random: inout SplitMix64) -> RecordID {
    RecordID(name: "r\(random.next() % 100)", zoneID: id.zoneID)
  }

  static func point(_ random: inout SplitMix64) -> Point {
    Point(
      x: double(&random),
      label: random.next() % 2 == 0 ? nil : text(&random),
      at: date(&random),
      price: decimal(&random),
      bytes: data(&random),
      big: random.next(),
      ratio: Float(bitPattern: UInt32(random.next() >> 33) & 0x7f7f_ffff),
      id: recordID(&random),
      tags: Set(["x", "y", "z", text(&random)])
    )
  }

  static func list<T>(
    _ random: inout SplitMix64,
    _ make: (inout SplitMix64) -> T
  ) -> [T] {
    (0..<Int(random.next() % 4)).map { _ in make(&random) }
  }

  static func everything(_ random: inout SplitMix64) -> Everything {
    let location = Location(
      latitude: double(&random),
      longitude: 2,
      altitude: nil,
      speed: 0.1,
      timestamp: Timestamp(nanoseconds: Int64(truncatingIfNeeded: random.next()))
    )
    return Everything(
      text: text(&random),
      flag: random.next() % 2 == 0,
      int: Int(truncatingIfNeeded: random.next()),
      int8: Int8(truncatingIfNeeded: random.next()),
      uint16: UInt16(truncatingIfNeeded: random.next()),
      uint64: random.next() >> 1,
      double: double(&random),
      float: Float(bitPattern: UInt32(random.next() >> 33) & 0x7f7f_ffff),
      date: date(&random),
      data: data(&random),
      uuid: uuid(&random),
      url: URL(string: "https://example.org/\(random.next())?q=%20#f") ?? URL(filePath: "/"),
      decimal: decimal(&random),
      timestamp: Timestamp(nanoseconds: Int64(truncatingIfNeeded: random.next())),
      value: [.int64(1), [.double(double(&random))], .string(text(&random))],
      reference: Reference(recordID: recordID(&random), action: .deleteSelf),
      asset: Asset(sha256: Data(repeating: 7, count: 32), byteCount: 9, location: text(&random)),
      location: location,
      target: recordID(&random),
      mood: random.next() % 2 == 0 ? .calm : .wild,
      level: random.next() % 2 == 0 ? .low : .high,
      numbers: list(&random) { Int(truncatingIfNeeded: $0.next()) },
      grid: list(&random) { list(&$0, double) },
      dates: list(&random, date),
      gaps: list(&random) { $0.next() % 2 == 0 ? nil : text(&$0) },
      moods: Set(Mood.allCases.prefix(Int(random.next() % 3))),
      point: point(&random),
      points: list(&random, point),
      byName: ["b": list(&random) { Int(truncatingIfNeeded: $0.next()) }, text(&random): [1]],
      byNumber: [Int(truncatingIfNeeded: random.next()): text(&random), -1: "é"],
      byMood: [.calm: date(&random), .wild: date(&random)],
      note: random.next() % 2 == 0 ? nil : text(&random),
      count: random.next() % 2 == 0 ? nil : 3,
      other: random.next() % 2 == 0 ? nil : point(&random)
    )
  }
}

import Foundation
import CloudSyncTestSupport
import Testing

@testable import CloudSyncCore
@testable import CloudSyncRecordCoding

@Suite("RecordEncoder and RecordDecoder")
struct RecordCodingTests {
  typealias Models = CodingModels

  @Test(
    "Random models come back equal, whatever the options",
    arguments: 0..<UInt64(SuiteSize.count(30, long: 200))
  )
  func roundTrip(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let model = Models.everything(&random)
    let keys: RecordEncoder.KeyEncoding =
      switch seed % 3 {
      case 0: .useDefaultKeys
      case 1: .convertToSnakeCase
      default: .custom { "x_\($0)" }
      }
    let encoder = RecordEncoder(nilEncoding: seed % 2 == 0 ? .null : .omit, keyEncoding: keys)

    let record = try encoder.encode(model, recordType: "Everything", recordID: Models.id)
    let decoded = try RecordDecoder(keyEncoding: keys).decode(Models.Everything.self, from: record)

    #expect(decoded == model)
    #expect(decoded.double.bitPattern == model.double.bitPattern)
    #expect(decoded.point.x.bitPattern == model.point.x.bitPattern)
    #expect(decoded.text.utf8.elementsEqual(model.text.utf8))
    // A record that went through a file is the same record.
    let stored = try Record(codedBytes: record.codedBytes)
    #expect(try encoder.encode(decoded, recordType: "Everything", recordID: Models.id) == stored)
    try RecordRules.check(record, zone: Models.id.zoneID)
  }

  @Test("Every type has its kind of field")
  func kinds() throws {
    var random = SplitMix64(seed: 4)
    var model = Models.everything(&random)
    model.flag = true
    model.mood = .wild
    model.level = .high
    model.gaps = ["a", nil]
    model.numbers = [1, 2]
    model.grid = [[1], []]
    model.moods = [.wild, .calm]
    model.byName = ["b": [1], "a": []]
    model.byNumber = [2: "b", 1: "a"]
    model.byMood = [:]
    model.note = nil

    let record = try RecordEncoder().encode(model, recordType: "T", recordID: Models.id)

    #expect(record["text"] == .string(model.text))
    #expect(record["flag"] == 1)
    #expect(record["int8"] == .int64(Int64(model.int8)))
    #expect(record["float"] == .double(Double(model.float)))
    #expect(record["date"] == .timestamp(Timestamp(model.date)))
    #expect(record["data"] == .data(model.data))
    #expect(record["uuid"] == .string(model.uuid.uuidString))
    #expect(record["url"] == .string(model.url.absoluteString))
    #expect(record["decimal"] == .string(model.decimal.description))
    #expect(record["timestamp"] == .timestamp(model.timestamp))
    #expect(record["value"] == model.value)
    #expect(record["reference"] == .reference(model.reference))
    #expect(record["asset"] == .asset(model.asset))
    #expect(record["location"] == .location(model.location))
    #expect(record["target"] == .reference(Reference(recordID: model.target)))
    #expect(record["mood"] == "wild")
    #expect(record["level"] == 9)
    #expect(record["gaps"] == ["a", .null])
    #expect(record["numbers"] == [1, 2])
    #expect(record["grid"] == [[1.0], []])
    #expect(record["moods"] == ["calm", "wild"])
    #expect(record["byName"] == #"{"a":[],"b":[1]}"#)
    #expect(record["byNumber"] == #"{"1":"a","2":"b"}"#)
    #expect(record["byMood"] == "[]")
    #expect(record["note"] == .some(.null))
  }

  @Test("A structure is the JSON that JSONEncoder reads too, also as an element of a list")
  func structuresAreJSON() throws {
    struct Inner: Codable, Equatable {
      var name: String?
      var when: Date
      var price: Decimal
      var link: URL
      var bytes: Data
      var flag: Bool
    }
    let inner = Inner(
      name: nil,
      when: Date(timeIntervalSinceReferenceDate: 0.1),
      price: Decimal(12.5),
      link: try #require(URL(string: "https://example.org/a")),
      bytes: Data([1, 2]),
      flag: true
    )
    let json =
      #"{"bytes":"AQI=","flag":true,"link":"https://example.org/a","price":12.5,"when":0.1}"#
    let text = FieldValue.string(json)
    #expect(try JSONDecoder().decode(Inner.self, from: Data(json.utf8)) == inner)

    let record = try RecordEncoder()
      .encode(["one": [inner], "two": [inner, inner]], recordType: "T", recordID: Models.id)
    let plain = try RecordEncoder().encode(["x": inner], recordType: "T", recordID: Models.id)

    #expect(record["one"] == .list([text]))
    #expect(record["two"] == .list([text, text]))
    #expect(plain["x"] == text)
    #expect(try RecordDecoder().decode([String: Inner].self, from: plain) == ["x": inner])
  }

  @Test("Dates keep their bits where nanoseconds can tell them, and are refused out of reach")
  func dates() throws {
    let coder = RecordEncoder()
    var random = SplitMix64(seed: 77)
    for _ in 0..<20_000 {
      let date = Models.date(&random)
      let record = try coder.encode(["d": date], recordType: "T", recordID: Models.id)
      let decoded = try RecordDecoder().decode([String: Date].self, from: record)
      #expect(decoded == ["d": date])
    }
    let nan = Date(timeIntervalSinceReferenceDate: .nan)
    for date in [Date.distantPast, .distantFuture, nan] {
      #expect(throws: EncodingError.self) {
        try coder.encode(["d": date], recordType: "T", recordID: Models.id)
      }
    }
  }

  @Test("Integers are exact or refused, those of 128 bits too")
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func integers() throws {
    struct Wide: Codable, Equatable {
      var signed: Int128
      var unsigned: UInt128?
      var inside: [String: UInt128]
    }
    let wide = Wide(signed: -5, unsigned: nil, inside: ["a": UInt128(UInt64.max)])
    let record = try RecordEncoder().encode(wide, recordType: "T", recordID: Models.id)
    #expect(record["signed"] == -5)
    #expect(record["unsigned"] == .some(.null))
    #expect(record["inside"] == #"{"a":18446744073709551615}"#)
    #expect(try RecordDecoder().decode(Wide.self, from: record) == wide)

    let error = #expect(throws: EncodingError.self) {
      try RecordEncoder()
        .encode(["big": [1, UInt64.max]], recordType: "T", recordID: Models.id)
    }
    #expect(error.map(path) == "big.Index 1")
  }

  @Test("A superclass and nested containers have fields of their own")
  func containers() throws {
    class Base: Codable {
      var name = "base"
      var inner = ["a": 1]
      init() {}
    }
    final class Derived: Base {
      var size = 0
      enum Keys: CodingKey { case size, info, row, parent }
      enum InfoKeys: CodingKey { case a, b, c }
      init(size: Int) {
        super.init()
        self.size = size
      }
      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let info = try container.nestedContainer(keyedBy: InfoKeys.self, forKey: .info)
        #expect(try info.decode(Date.self, forKey: .a) == Date(timeIntervalSinceReferenceDate: 0))
        var deep = try info.nestedUnkeyedContainer(forKey: .b)
        #expect(try deep.decode(Bool.self))
        #expect(deep.isAtEnd)
        var row = try container.nestedUnkeyedContainer(forKey: .row)
        #expect(try row.decode(String.self) == "x")
        let cell = try row.nestedContainer(keyedBy: InfoKeys.self)
        #expect(try cell.decode(Int.self, forKey: .c) == 3)
        size = try container.decode(Int.self, forKey: .size)
        let other = try Base(from: container.superDecoder(forKey: .parent))
        #expect(other.name == "base")
        try super.init(from: container.superDecoder())
      }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(size, forKey: .size)
        var info = container.nestedContainer(keyedBy: InfoKeys.self, forKey: .info)
        try info.encode(Date(timeIntervalSinceReferenceDate: 0), forKey: .a)
        var again = container.nestedContainer(keyedBy: InfoKeys.self, forKey: .info)
        var deep = again.nestedUnkeyedContainer(forKey: .b)
        try deep.encode(true)
        var row = container.nestedUnkeyedContainer(forKey: .row)
        try row.encode("x")
        var cell = row.nestedContainer(keyedBy: InfoKeys.self)
        try cell.encode(3, forKey: .c)
        try super.encode(to: container.superEncoder())
        try super.encode(to: container.superEncoder(forKey: .parent))
      }
    }

    let record = try RecordEncoder().encode(Derived(size: 4), recordType: "T", recordID: Models.id)
    let decoded = try RecordDecoder().decode(Derived.self, from: record)

    #expect(record["size"] == 4)
    #expect(record["info"] == #"{"a":0,"b":[true]}"#)
    #expect(record["row"] == ["x", #"{"c":3}"#])
    #expect(record["super"] == #"{"inner":{"a":1},"name":"base"}"#)
    #expect(record["parent"] == record["super"])
    #expect(decoded.size == 4)
    #expect(decoded.inner == ["a": 1])
  }

  @Test("Sets and dictionaries are written in one order")
  func unordered() throws {
    struct Bag: Codable, Equatable {
      var names: Set<String>
      var days: [Date: Set<Int>]
    }
    let days = (1...9).map { Date(timeIntervalSinceReferenceDate: Double($0)) }
    let bag = Bag(
      names: Set((0..<50).map { "n\($0)" }),
      days: Dictionary(uniqueKeysWithValues: days.map { ($0, Set([3, 1, 2])) })
    )
    let record = try RecordEncoder().encode(bag, recordType: "T", recordID: Models.id)
    let names = try #require(record["names"]?.listValue)
    #expect(names.compactMap(\.stringValue) == bag.names.sorted())
    let pairs = (1...9).map { "\($0),[1,2,3]" }.joined(separator: ",")
    #expect(record["days"] == .string("[\(pairs)]"))
    #expect(try RecordDecoder().decode(Bag.self, from: record) == bag)
  }

  @Test("Text in Swift's eyes equal stays the bytes that it is")
  func bytesOfText() throws {
    let texts = ["é", "e\u{301}"]
    let record = try RecordEncoder()
      .encode(["t": texts, "j": texts], recordType: "T", recordID: Models.id)
    #expect(record["t"] == [.string("é"), .string("e\u{301}")])
  }
}

/// The path of an error, its keys parted by dots.
func path(_ error: EncodingError) -> String {
  if case .invalidValue(_, let context) = error { return path(context.codingPath) }
  return "?"
}

func path(_ keys: [any CodingKey]) -> String { keys.map(\.stringValue).joined(separator: ".") }

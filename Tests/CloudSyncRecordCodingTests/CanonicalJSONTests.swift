import CloudSyncCore
import Foundation
import Testing

@testable import CloudSyncRecordCoding

/// The bytes of JSON in fields are equal on every system: these are what other devices have.
@Suite("Canonical JSON")
struct CanonicalJSONTests {
  private struct Inner: Codable, Equatable {
    var z = 0.1
    var a = "q\"\\/\u{8}\u{9}\u{a}\u{c}\u{d}\u{1}\u{1f}\u{7f}é\u{2028}🚀"
    var é = 1e21
    var e = [
      1.0, -0.0, .leastNonzeroMagnitude, 1.7976931348623157e308, 1e-7, 1e-6, 123456789012345683968,
      1e20,
    ]
    var decimal = Decimal(string: "1234567890123456789012345678.0123456789")
    var small = Decimal(string: "0.00000000000000000000000000000000000001")
    var big = UInt64.max
    var float: Float = 0.1
    var flag = true
    var date = Date(timeIntervalSinceReferenceDate: 0.5)
    var bytes = Data([0, 255])
    var names: Set<String> = ["b", "a", "é", "B"]
    var missing: Int?
  }

  private func encoded(_ value: some Encodable) throws -> FieldValue? {
    try RecordEncoder().encode(["x": value], recordType: "T", recordID: CodingModels.id)["x"]
  }

  @Test("A model has one text, byte for byte")
  func golden() throws {
    let text =
      #"{"a":"q\"\\/\b\t\n\f\r\u0001\u001f"# + "\u{7f}é\u{2028}🚀"
      + #"","big":18446744073709551615,"#
      + #""bytes":"AP8=","date":0.5,"#
      + #""decimal":1234567890123456789012345678.0123456789,"#
      + #""e":[1,-0,5e-324,1.7976931348623157e+308,1e-7,0.000001,123456789012345680000,"#
      + #"100000000000000000000],"flag":true,"float":0.10000000149011612,"#
      + #""names":["B","a","b","é"],"#
      + #""small":0.00000000000000000000000000000000000001,"z":0.1,"é":1e+21}"#
    #expect(try encoded(Inner()) == .string(text))
    let record = Record(
      recordType: "T",
      recordID: CodingModels.id,
      fields: ["x": .string(text)]
    )
    #expect(try RecordDecoder().decode([String: Inner].self, from: record) == ["x": Inner()])
  }

  @Test(
    "A number has the fewest digits that read back as it, placed as ECMAScript does",
    arguments: [
      (0, "0"), (-0.0, "-0"), (1, "1"), (-1.5, "-1.5"), (0.1, "0.1"), (1e21, "1e+21"),
      (1e20, "100000000000000000000"), (123e19, "1.23e+21"), (0.000001, "0.000001"),
      (0.0000001, "1e-7"), (1.5e-9, "1.5e-9"), (0x1p-1074, "5e-324"),
      (9007199254740992, "9007199254740992"), (4.35, "4.35"), (1e23, "1e+23"),
    ] as [(Double, String)]
  )
  func doubles(number: Double, text: String) {
    #expect(JSONText.number(number) == text)
  }

  @Test("Every number reads back with its bits")
  func roundTrip() {
    var random = SplitMix64(seed: 5)
    for _ in 0..<20_000 {
      let number = Double(bitPattern: random.next())
      guard number.isFinite else { continue }
      let read = JSONNumber(text: JSONText.number(number)).double
      #expect(read?.bitPattern == number.bitPattern)
    }
  }

  @Test(
    "A decimal keeps all of its digits, and has one text",
    arguments: [
      ("1.50", "1.5"), ("100", "100"), ("-0.0", "0"), ("0.1", "0.1"), ("1e3", "1000"),
      ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
      ("-0.12345678901234567890123456789012345678", "-0.12345678901234567890123456789012345678"),
      ("1e100", "1" + String(repeating: "0", count: 100)),
    ]
  )
  func decimals(text: String, canonical: String) throws {
    let decimal = try #require(Decimal(string: text))
    #expect(try encoded(decimal) == .string(canonical))
    #expect(try encoded(["n": decimal]) == .string(#"{"n":"# + canonical + "}"))
    let record = Record(
      recordType: "T",
      recordID: CodingModels.id,
      fields: ["x": .string(#"{"n":"# + text + "}")]
    )
    let decoded = try RecordDecoder().decode([String: [String: Decimal]].self, from: record)
    #expect(decoded == ["x": ["n": decimal]])
  }

  @Test(
    "A number with more digits than a Decimal is an error, not another number",
    arguments: ["1234567890123456789012345678901234567890.5", "1e400", "1e-400"]
  )
  func tooManyDigits(text: String) {
    let record = Record(
      recordType: "T",
      recordID: CodingModels.id,
      fields: ["x": .string(#"{"n":"# + text + "}")]
    )
    #expect(throws: DecodingError.self) {
      try RecordDecoder().decode([String: [String: Decimal]].self, from: record)
    }
  }

  @Test("Of values under one key the last counts, written and read")
  func repeatedKeys() throws {
    var text = JSONText()
    text.appendObject([("b", 1), ("a", 2), ("b", 3)]) { $0.append(.integer($1)) }
    #expect(text.text == #"{"a":2,"b":3}"#)
    let record = Record(
      recordType: "T",
      recordID: CodingModels.id,
      fields: ["x": #"{"b":1,"a":2,"b":3}"#]
    )
    #expect(
      try RecordDecoder().decode([String: [String: Int]].self, from: record)
        == ["x": ["a": 2, "b": 3]]
    )
  }

  @Test(
    "What is no JSON is refused with its place",
    arguments: [
      "", " ", "{", "[", "[1", "[1,", "[1,]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}",
      "{a:1}", "01", "-", "1.", ".5", "1e", "1e+", "+1", "tru", "nul", "\"", "\"\\x\"",
      "\"\\u12\"", "\"\\ud800\"", "\"\\udc00a\"", "\"\u{1}\"", "1 2", "[1]]", "\u{feff}1", "NaN",
    ]
  )
  func invalid(text: String) {
    #expect(throws: JSONError.self) { try JSONParser.node(of: text, maximumNesting: 8) }
  }

  @Test("Texts broken at random are read as Foundation reads them, or refused as by it")
  func fuzz() throws {
    let whole = Array(
      #"{"a":[1,-2.5e3,true,null,"x\u00e9\ud83d\ude80\n"],"b":{"c":{}}, "d":0}"#.utf8
    )
    var random = SplitMix64(seed: 11)
    for _ in 0..<5_000 {
      var bytes = whole
      for _ in 0...random.below(2 as UInt64) {
        let place = Int(random.below(UInt64(bytes.count)))
        let other = whole[Int(random.below(UInt64(whole.count)))]
        if random.next() % 2 == 0 { bytes[place] = other } else { bytes.remove(at: place) }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let own = try? JSONParser.node(of: text, maximumNesting: 100)
      let foundation = try? JSONSerialization.jsonObject(
        with: Data(bytes),
        options: .fragmentsAllowed
      )
      #expect((own == nil) == (foundation == nil), "\(text)")
    }
  }
}

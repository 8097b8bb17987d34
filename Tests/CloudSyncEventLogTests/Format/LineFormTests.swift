import CloudSyncCore
import Foundation
import Testing

@testable import CloudSyncEventLog

@Suite("Line format")
struct LineFormTests {
  /// Optionals in objects and in arrays, and both kinds of integers.
  private struct Sparse: CodedValue {
    var first: String?
    var list: [Int64?]
    var last: UInt64?

    func write<W: CodedWriter>(to writer: inout W) {
      writer.object {
        $0.field("first", first)
        $0.key("list")
        $0.beginArray(count: list.count)
        for element in list {
          if let element {
            $0.writePresent()
            $0.write(element)
          } else {
            $0.writeNil()
          }
        }
        $0.endArray()
        $0.field("last", last)
      }
    }

    init(first: String? = nil, list: [Int64?] = [], last: UInt64? = nil) {
      (self.first, self.list, self.last) = (first, list, last)
    }

    init<R: CodedReader>(from reader: inout R) throws(CodedError) {
      try reader.beginObject()
      first = try reader.field("first")
      try reader.key("list")
      list = try reader.array { (reader) throws(CodedError) in
        try reader.readPresent() ? try reader.readInt64() : nil
      }
      last = try reader.field("last")
      try reader.endObject()
    }
  }

  private static let zone = ZoneID(name: "Zone\u{0}\"\\é")

  private static let values: [FieldValue] = [
    .null, "", "plain", "é", "e\u{301}", "\u{0}\u{1}\u{1f}\u{7f}\n\r\t\u{8}\u{c}\"\\/",
    "👩‍🚀\u{10ffff}",
    "\u{2028}\u{2029}</script>", .int64(.min), .int64(.max), .int64(0), .int64(-1),
    .double(0), .double(-0.0), .double(0.1), .double(.leastNonzeroMagnitude),
    .double(1.7976931348623157e308),
    .double(1e16), .double(123_456_789.125), .double(.nan), .double(.signalingNaN),
    .double(.infinity), .double(-.infinity), .double(Double(bitPattern: 0xfff8_dead_beef_0001)),
    .timestamp(.distantPast), .timestamp(.distantFuture), .data(Data()), .data(Data([0])),
    .data(Data((0..<256).map { UInt8($0) })),
    .reference(Reference(recordID: RecordID(name: "r", zoneID: zone), action: .deleteSelf)),
    .asset(Asset(sha256: Data(repeating: 7, count: 32), byteCount: .max, location: "/tmp/é")),
    .location(Location(latitude: -0.0, longitude: 179.999_999_9, altitude: .nan)), [], [.null],
    [1, [2.5, [["deep"], []]], .data(Data([1]))],
    .redacted(Redaction(kind: "string", byteCount: 12, digest: "00ff")),
  ]

  @Test("A value of every kind comes back with the same bits", arguments: values)
  func everyKind(value: FieldValue) throws {
    let bytes = LineForm.write(value)

    #expect(!bytes.contains(UInt8(ascii: "\n")))
    #expect(try LineForm.read(FieldValue.self, bytes) == value)
    #expect(try LineForm.read(FieldValue.self, LineForm.spaced(bytes)) == value)
    #expect(LineForm.write(value) == bytes)
  }

  @Test("Texts that differ in normalisation only stay different")
  func normalisation() throws {
    let (composed, decomposed) = (FieldValue.string("é"), FieldValue.string("e\u{301}"))

    #expect(LineForm.write(composed) != LineForm.write(decomposed))
    #expect(try LineForm.read(FieldValue.self, LineForm.write(composed)) != decomposed)
  }

  @Test(
    "An absent optional is left out of an object and is null in an array",
    arguments: [
      (Sparse(), #"{"list":[]}"#),
      (Sparse(first: "", list: [nil], last: 0), #"{"first":"","list":[null],"last":0}"#),
      (
        Sparse(list: [nil, 1, nil, nil, .min]), #"{"list":[null,1,null,null,-9223372036854775808]}"#
      ),
      (
        Sparse(first: "null", last: .max),
        #"{"first":"null","list":[],"last":18446744073709551615}"#
      ),
    ]
  )
  private func optionals(value: Sparse, text: String) throws {
    #expect(LineForm.text(value) == text)
    #expect(try LineForm.read(Sparse.self, text) == value)
    #expect(try LineForm.read(Sparse.self, LineForm.spaced(Array(text.utf8))) == value)
  }

  @Test(
    "Escapes that others write are understood",
    arguments: [
      (#""\u00e9""#, "é"), (#""\ud83d\ude00""#, "😀"), (#""\/\b\f""#, "/\u{8}\u{c}"),
      (#""\u0000""#, "\u{0}"),
    ]
  )
  func escapes(text: String, expected: String) throws {
    let json = #"{"kind":"string","value":\#(text)}"#
    #expect(try LineForm.read(FieldValue.self, json) == .string(expected))
  }

  @Test(
    "What is not in the format is an error that names the column",
    arguments: [
      "", "{", "}", "[]", "null", #"{"kind":"string"}"#, #"{"kind":"string","value":1}"#,
      #"{"kind":"nothing"}"#, #"{"kind":"null"} x"#, #"{"kind":"null","more":1}"#,
      #"{"value":"a","kind":"string"}"#, #"{"kind":"int64","value":9223372036854775808}"#,
      #"{"kind":"int64","value":1.5}"#, #"{"kind":"int64","value":-}"#,
      #"{"kind":"double","value":1e999}"#, #"{"kind":"double","value":"bits:zz"}"#,
      #"{"kind":"double","value":NaN}"#, #"{"kind":"string","value":"\ud800"}"#,
      #"{"kind":"string","value":"\q"}"#, #"{"kind":"string","value":"\u12"}"#,
      #"{"kind":"string","value":"abc}"#, #"{"kind":"data","value":"*"}"#,
      #"{"kind":"list","value":[1,]}"#, #"{"kind":"list","value":[}"#,
      #"{"kind":"list","value":[{"kind":"null"} {"kind":"null"}]}"#,
      "{\"kind\":\"string\",\"value\":\"\u{1}\"}",
      #"{"kind":"redacted","value":{"kind":"a","byteCount":99999999999999,"digest":""}}"#,
      String(repeating: #"{"kind":"list","value":["#, count: 100_000),
    ]
  )
  func refused(text: String) throws {
    let error = try #require(throws: CodedError.self) { try LineForm.read(FieldValue.self, text) }
    #expect(error.place.hasPrefix("column "))
    #expect(!error.reason.isEmpty)
  }

  @Test("Bytes that are no UTF-8 are refused, escaped or not", arguments: [#""a"#, #""\n"#])
  func invalidText(beginning: String) {
    let bytes =
      Array("{\"kind\":\"string\",\"value\":\(beginning)".utf8) + [0xff] + Array("\"}".utf8)
    #expect(throws: CodedError.self) { try LineForm.read(FieldValue.self, bytes) }
  }

  @Test("Nesting is read as deep as a session's values go, and no deeper")
  func nesting() throws {
    func nested(_ depth: Int) -> FieldValue {
      (0..<depth).reduce(FieldValue.null) { value, _ in [value] }
    }
    #expect(try LineForm.read(FieldValue.self, LineForm.write(nested(31))) == nested(31))
    #expect(throws: CodedError.self) {
      try LineForm.read(FieldValue.self, LineForm.write(nested(32)))
    }
  }

  @Test("Every line of a log is JSON to the toolchain's parser")
  func toolchain() throws {
    let log = try LogHarness.eventfulRun().bytes
    for line in LineForm.lines(log) {
      let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
      #expect(Set(object?.keys.map { $0 } ?? []) == ["version", "kind", "payload"])
    }
  }

  @Test("Every line of a log is written as it was read, also with white space between its tokens")
  func everyLine() throws {
    for line in LineForm.lines(try LogHarness.eventfulRun().bytes) {
      #expect(LineForm.write(try LineForm.read(LogLine.self, line)) == line)
      #expect(LineForm.write(try LineForm.read(LogLine.self, LineForm.spaced(line))) == line)
    }
  }

  @Test("The same run gives the same bytes")
  func sameBytes() throws {
    let first = try LogHarness.eventfulRun(sink: .ring()).bytes
    #expect(try LogHarness.eventfulRun(sink: .ring()).bytes == first)
  }
}

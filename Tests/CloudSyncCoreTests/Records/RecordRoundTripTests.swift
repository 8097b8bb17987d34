import Foundation
import CloudSyncTestSupport
import Testing

@testable import CloudSyncCore

@Suite("Coded forms of records")
struct RecordRoundTripTests {
  @Test("Every value survives JSON and bytes exactly", arguments: RecordFixtures.values)
  func valuesSurvive(value: FieldValue) throws { try expectRoundTrips(value) }

  @Test("A record with something in every place survives JSON and bytes exactly")
  func fullRecordSurvives() throws { try expectRoundTrips(RecordFixtures.fullRecord) }

  @Test("An empty record survives JSON and bytes exactly")
  func emptyRecordSurvives() throws { try expectRoundTrips(RecordFixtures.record()) }

  @Test("The small values survive JSON and bytes exactly")
  func smallValuesSurvive() throws {
    for status in AccountStatus.allCases { try expectRoundTrips(status) }
    for scope in DatabaseScope.allCases {
      try expectRoundTrips(ZoneID(name: "z", owner: "é", scope: scope))
    }
    for action in Reference.Action.allCases { try expectRoundTrips(action) }
    try expectRoundTrips(RecordFixtures.id(""))
    try expectRoundTrips(AccountIdentity("opaque"))
    try expectRoundTrips(try #require(ChangeToken(Data([0, 255]))))
    try expectRoundTrips(RecordField(name: "a", value: 1))
  }

  @Test("The coded form names kinds and fields")
  func jsonIsReadable() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys

    let text = String(decoding: try encoder.encode(FieldValue.int64(5)), as: UTF8.self)

    #expect(text == #"{"kind":"int64","value":5}"#)
  }

  @Test("Coded records whose fields are out of order are refused")
  func unsortedFieldsAreRefused() throws {
    let json = """
      {"recordType":"T","recordID":{"name":"n","zone":{"name":"z","owner":"o","scope":"private"}},
      "fields":[{"name":"b","value":{"kind":"null"}},{"name":"a","value":{"kind":"null"}}],
      "encryptedKeys":[]}
      """

    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Record.self, from: Data(json.utf8))
    }
  }

  @Test("Values that could not be made are refused: an empty token, a short digest, a length < 0")
  func impossibleValuesAreRefused() throws {
    #expect(ChangeToken(Data()) == nil)
    #expect(throws: CodedError.self) { try ChangeToken(codedBytes: [0]) }
    var writer = BinaryWriter()
    writer.write(Data([1, 2, 3]))
    writer.write(Int64(1))
    writer.write("x")
    #expect(throws: CodedError.self) { try Asset(codedBytes: writer.bytes) }
    writer.removeAll()
    writer.write(Data(repeating: 0, count: 32))
    writer.write(Int64(-1))
    writer.write("x")
    #expect(throws: CodedError.self) { try Asset(codedBytes: writer.bytes) }
  }

  @Test("Lists as deep as the rules allow can be read back, bottomless ones are an error")
  func depthIsBounded() throws {
    var value: FieldValue = 1
    for _ in 0..<RecordRules.maximumListDepth { value = [value] }
    try expectRoundTrips(value)
    for _ in 0..<200 { value = [value] }
    #expect(throws: CodedError.self) { try FieldValue(codedBytes: value.codedBytes) }
  }
}

@Suite("Damaged records")
struct DamagedRecordTests {
  @Test("Every truncation of a coded record is an error")
  func truncationsThrow() {
    let bytes = RecordFixtures.fullRecord.codedBytes

    for count in bytes.indices {
      #expect(throws: CodedError.self) { try Record(codedBytes: Array(bytes[..<count])) }
    }
  }

  @Test("2,000 mutations of a coded record throw or give a value that can be coded again")
  func mutationsNeverTrap() throws {
    var random = RecordFixtures.Random(seed: 0x5eed)
    let original = RecordFixtures.fullRecord.codedBytes

    for _ in 0..<2000 {
      var bytes = original
      for _ in 0...random.below(4) {
        let place = random.below(bytes.count)
        switch random.below(4) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes[place] ^= 1 << UInt8(random.below(8))
        case 2: bytes.remove(at: place)
        default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        }
      }
      guard let record = try? Record(codedBytes: bytes) else { continue }
      #expect(try Record(codedBytes: record.codedBytes) == record)
      _ = record.byteCount
      _ = record.description
    }
  }

  @Test("JSON with a field missing, or of the wrong kind, is an error that names it")
  func jsonErrorsNameTheField() throws {
    let json = #"{"kind":"reference","value":{"recordID":{"name":5}}}"#

    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(FieldValue.self, from: Data(json.utf8))
    }

    let text = String(describing: try #require(error))
    #expect(text.contains("name"))
  }
}

import CloudSyncCore
import CloudSyncTestSupport
import Foundation
import Testing

@testable import CloudSyncEventLog

@Suite("Hidden fields")
struct HiddenFieldsTests {
  private static let operation = ModifyOperation(
    records: (0..<40)
      .map { number in
        var fields: [String: FieldValue] = ["time": 7, "time_title": 7, "writer": 7]
        if number % 3 != 0 { fields["title"] = .string("title \(number)") }
        if number % 4 == 0 { fields["also"] = .null }
        if number % 5 == 0 {
          fields["\(number % 2 == 0 ? "a" : "z")\(number)"] = .data(Data([1, 2]))
        }
        if number % 7 == 0 { fields["place"] = .list([.int64(1), .null]) }
        return SessionHarness.record("r\(number)", number == 11 ? [:] : fields)
      }
  )

  @Test(
    "Records read back as they were hidden, whatever fields they have",
    arguments: [Redactor.digests(salt: 1), .drops(salt: 1), .digests(keeping: ["title"], salt: 1)]
  )
  func roundTrip(redactor: Redactor) throws {
    let bytes = LineForm.write(Self.operation, redactor)
    let read = try LineForm.read(ModifyOperation.self, bytes)

    #expect(SkeletonDigest.of(read) == SkeletonDigest.of(Self.operation))
    #expect(LineForm.write(read) == bytes)
    #expect(read.records.map(\.fields.count) == Self.operation.records.map(\.fields.count))
    for (hidden, plain) in zip(read.records, Self.operation.records) {
      for (field, value) in zip(hidden.fields, plain.fields) {
        #expect(UTF8Bytes.equal(field.name, value.name))
        #expect(field.value.byteCount == value.value.byteCount)
        let isNull = if case .null = value.value { true } else { false }
        #expect(
          (field.value.redactedValue == nil)
            == (isNull || value.name == "title" && redactor.keepsTitles)
        )
      }
    }
    #expect(try LineForm.read(ModifyOperation.self, LineForm.spaced(bytes)) == read)
  }

  @Test("A record with many fields takes little space")
  func size() {
    let records = (0..<400)
      .map { number in
        var fields: [String: FieldValue] = [:]
        for field in 0..<10 {
          fields["column_\(field)"] = .string("value \(number) \(field)")
          fields["cloudsync_time_column_\(field)"] = .int64(Int64(number))
        }
        return SessionHarness.record("00048d7d26a05992a0f8b21860e8340f:\(number)", fields)
      }
    let bytes = LineForm.write(ModifyOperation(records: records), .digests(salt: 1))

    #expect(bytes.count / records.count < 400)
  }

  @Test(
    "What is damaged is refused",
    arguments: [
      #""kinds":"is""#, #""kinds":"iiii""#, #""kinds":"x""#, #""sizes":[1,2,3]"#,
      #""digests":"abc""#, #""digests":"=""#,
    ]
  )
  func damaged(part: String) throws {
    let text = #"""
      {"recordType":"Note","recordID":{"name":"a","zone":{"name":"Notes","owner":"o","scope":"private"}},\#
      "hidden":{"names":["a","b"],"kinds":"si","sizes":[3],"digests":"0123456789ab="},"encryptedKeys":[]}
      """#
    let record = try LineForm.read(Record.self, text)
    #expect(record.fields[1].value.redactedValue?.digest == "0123456789ab")
    let key = try #require(part.split(separator: ":").first)
    let start = try #require(text.range(of: "\(key):"))
    let end = try #require(
      text[start.upperBound...].firstIndex { "]\"".contains($0) && $0 != text[start.upperBound] }
    )
    let damaged = text[..<start.lowerBound] + part + text[text.index(after: end)...]
    #expect(throws: CodedError.self) { try LineForm.read(Record.self, String(damaged)) }
  }
}

extension Redactor {
  fileprivate var keepsTitles: Bool {
    if case .digests(let fields) = rule { fields.contains("title") } else { false }
  }
}

import Foundation
import Testing

@testable import CloudSyncCore

@Suite("FieldValue")
struct FieldValueTests {
  @Test("A value equals itself and no other value of the collection, as do its hash and bytes")
  func equalityIsOfBytes() {
    for (left, first) in RecordFixtures.values.enumerated() {
      for (right, second) in RecordFixtures.values.enumerated() {
        #expect((first == second) == (left == right), "\(first) \(second)")
        #expect((first.codedBytes == second.codedBytes) == (left == right))
      }
    }
    #expect(Set(RecordFixtures.values).count == RecordFixtures.values.count)
  }

  @Test("Equal texts in different storage are equal")
  func equalTextsAreEqual() {
    let long = String(repeating: "long text ", count: 10)
    let copy = String(decoding: Array(long.utf8), as: UTF8.self)

    #expect(FieldValue.string(long) == FieldValue.string(copy))
    #expect(FieldValue.string(long) != FieldValue.string(copy + "x"))
    #expect(FieldValue.string(long) != FieldValue.string(String(copy.dropLast()) + "x"))
  }

  @Test("A value fits into 17 bytes and a field into 40")
  func valuesAreSmall() {
    #expect(MemoryLayout<FieldValue>.size <= 17)
    #expect(MemoryLayout<RecordField>.stride <= 40)
    #expect(MemoryLayout<Record>.size == MemoryLayout<UnsafeRawPointer>.size)
  }

  @Test("Literals make values of their kind")
  func literals() {
    let values: [FieldValue] = ["a", 1, 1.5, .null, ["a", [2]]]

    #expect(
      values == [
        .string("a"), .int64(1), .double(1.5), .null, .list([.string("a"), .list([.int64(2)])]),
      ]
    )
  }

  @Test("Each reader gives the value of its kind and nothing for any other")
  func readers() {
    for value in RecordFixtures.values {
      let readings: [(String, FieldValue?)] = [
        ("null", value.isNull ? .null : .none), ("string", value.stringValue.map { .string($0) }),
        ("int64", value.int64Value.map { .int64($0) }),
        ("double", value.doubleValue.map { .double($0) }),
        ("timestamp", value.timestampValue.map { .timestamp($0) }),
        ("data", value.dataValue.map { .data($0) }),
        ("reference", value.referenceValue.map { .reference($0) }),
        ("asset", value.assetValue.map { .asset($0) }),
        ("location", value.locationValue.map { .location($0) }),
        ("list", value.listValue.map { .list($0) }),
        ("redacted", value.redactedValue.map { .redacted($0) }),
      ]

      for (kind, reading) in readings {
        if kind == value.kind { #expect(reading == value) } else { #expect(reading == .none) }
      }
    }
  }

  @Test("Values count what the limits of the cloud count")
  func byteCounts() {
    #expect(FieldValue.null.byteCount == 0)
    #expect(FieldValue.string("é").byteCount == 2)
    #expect(FieldValue.string("e\u{301}").byteCount == 3)
    #expect(FieldValue.int64(.max).byteCount == 8)
    #expect(FieldValue.data(Data(count: 1000)).byteCount == 1000)
    #expect(FieldValue.reference(Reference(recordID: RecordFixtures.id("four"))).byteCount == 12)
    #expect(FieldValue.asset(RecordFixtures.asset).byteCount == 40)
    #expect(FieldValue.list(["a", 1, ["bc", 1.5]]).byteCount == 1 + 8 + 2 + 8)
    let redaction = Redaction(kind: "data", byteCount: 77, digest: "")
    #expect(FieldValue.redacted(redaction).byteCount == 77)
  }
}

import Foundation
import Testing

@testable import CloudSyncCore

@Suite("Record")
struct RecordTests {
  @Test("Fields are sorted by the bytes of their names, however they were given")
  func fieldsAreSorted() {
    var record = RecordFixtures.record(["b": 1, "a": 2, "B": 3])
    record["aa"] = 4
    record["C"] = 5

    #expect(record.fields.map(\.name) == ["B", "C", "a", "aa", "b"])
  }

  @Test("Setting nil takes a field out of the edit, setting null keeps it as a removal")
  func settingNilAndNull() {
    var record = RecordFixtures.record(["a": 1, "b": 2])
    record["a"] = nil
    record["b"] = .null
    record["c"] = nil

    #expect(record["a"] == nil)
    #expect(record["b"] == .null)
    #expect(record.fields == [RecordField(name: "b", value: .null)])
  }

  @Test("Every field of a large record is found, and none that it has not")
  func everyFieldIsFound() {
    var fields: [String: FieldValue] = [:]
    for number in 0..<100 { fields["a_rather_long_field_name_\(number)"] = .int64(Int64(number)) }
    let record = RecordFixtures.record(fields)

    for number in 0..<100 {
      #expect(record["a_rather_long_field_name_\(number)"] == .int64(Int64(number)))
      #expect(record["a_rather_long_field_name_\(number)x"] == nil)
    }
    #expect(record[""] == nil)
    #expect(record["zzz"] == nil)
  }

  @Test("A change to a copy leaves the original as it was, whichever property it is")
  func copiesAreValues() {
    let original = RecordFixtures.fullRecord
    let changes: [(inout Record) -> Void] = [
      { $0["field_1"] = "new" }, { $0["field_1"] = nil }, { $0["new"] = 1 },
      { $0.recordID = RecordFixtures.id("x") }, { $0.recordType = "X" },
      { $0.encryptedKeys = [] }, { $0.changeTag = nil }, { $0.parent = nil }, { $0.share = nil },
      { $0.creationDate = nil }, { $0.modificationDate = nil },
    ]

    for change in changes {
      var copy = original
      #expect(copy == original)
      change(&copy)
      #expect(copy != original)
      #expect(copy.codedBytes != original.codedBytes)
    }
    #expect(original == RecordFixtures.fullRecord)
    #expect(original["field_1"] == "")
  }

  @Test("A change in place of a record that nobody shares keeps its storage")
  func uniqueStorageIsKept() {
    var record = RecordFixtures.record(["a": 1])
    let before = ObjectIdentifier(record.storage)
    record["a"] = 2
    record["b"] = 3
    record.changeTag = "t"

    #expect(ObjectIdentifier(record.storage) == before)
  }

  @Test("Equal records hash alike, and canonically equal texts make different records")
  func equalityIsOfBytes() throws {
    let again = try Record(codedBytes: RecordFixtures.fullRecord.codedBytes)

    #expect(again == RecordFixtures.fullRecord)
    #expect(again.hashValue == RecordFixtures.fullRecord.hashValue)
    #expect(RecordFixtures.record(["é": 1]) != RecordFixtures.record(["e\u{301}": 1]))
    #expect(RecordFixtures.record(tag: "é") != RecordFixtures.record(tag: "e\u{301}"))
    var record = RecordFixtures.record(["é": 1])
    record["e\u{301}"] = 2
    #expect(record.fields.map(\.value) == [2, 1])
  }

  @Test("Encrypted keys are sorted, each once")
  func encryptedKeysAreSorted() {
    #expect(RecordFixtures.fullRecord.encryptedKeys == ["field_1", "field_2"])
  }

  @Test("A record counts its names, type, links and values")
  func byteCount() {
    var record = RecordFixtures.record(["ab": "xyz", "n": 1])
    #expect(record.byteCount == 2 + 4 + (2 + 3) + (1 + 8))
    record.parent = RecordFixtures.id("mother")
    #expect(record.byteCount == 2 + 4 + (2 + 3) + (1 + 8) + 6)
  }

  @Test("Another change tag leaves everything else")
  func changeTag() {
    let record = RecordFixtures.fullRecord.withChangeTag("other")

    #expect(record.changeTag == "other")
    #expect(record.withChangeTag("tag-é") == RecordFixtures.fullRecord)
  }
}

@Suite("AccountStatus")
struct AccountStatusTests {
  @Test("Statuses have CloudKit's numbers")
  func rawValues() {
    let expected: [AccountStatus] = [
      .couldNotDetermine, .available, .restricted, .noAccount, .temporarilyUnavailable,
    ]

    #expect(expected.map(\.rawValue) == [0, 1, 2, 3, 4])
    for status in AccountStatus.allCases {
      #expect(AccountStatus(rawValue: status.rawValue) == status)
    }
    #expect(AccountStatus(rawValue: 5) == nil)
    #expect(AccountStatus(rawValue: -1) == nil)
  }
}

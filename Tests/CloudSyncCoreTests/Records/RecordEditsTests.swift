import Foundation
import CloudSyncTestSupport
import Testing

@testable import CloudSyncCore

@Suite("Edits of records")
struct RecordEditsTests {
  private func record(_ fields: [String: FieldValue], tag: String? = nil) -> Record {
    RecordFixtures.record(fields, tag: tag)
  }

  @Test("In a merge the later field wins, null included, and the earlier tag stays")
  func mergingFields() {
    let earlier = record(["a": 1, "b": 2, "c": 3], tag: "t1")
    let later = record(["b": 20, "c": .null, "d": 4], tag: "t2")

    let merged = earlier.merging(later: later)

    #expect(merged == record(["a": 1, "b": 20, "c": .null, "d": 4], tag: "t1"))
  }

  @Test("In a merge encrypted keys unite, and links and dates are the later ones where set")
  func mergingTheRest() {
    var earlier = RecordFixtures.fullRecord
    earlier.encryptedKeys = ["b"]
    var later = Record(recordType: "Everything", recordID: earlier.recordID)
    later.encryptedKeys = ["a", "b"]

    var merged = earlier.merging(later: later)
    #expect(merged.encryptedKeys == ["a", "b"])
    #expect(merged.parent == earlier.parent)
    #expect(merged.share == earlier.share)
    #expect(merged.modificationDate == earlier.modificationDate)

    later.parent = RecordFixtures.id("new parent")
    later.share = RecordFixtures.id("new share")
    later.modificationDate = Timestamp(nanoseconds: 99)
    later.creationDate = Timestamp(nanoseconds: 98)
    merged = earlier.merging(later: later)
    #expect(merged.parent == later.parent)
    #expect(merged.share == later.share)
    #expect(merged.modificationDate == later.modificationDate)
    #expect(merged.creationDate == later.creationDate)
  }

  @Test("An edit keeps what differs from the ancestor, and removes what is gone")
  func editFromAncestor() {
    let ancestor = record(["a": 1, "b": 2, "c": 3, "n": .null, "z": 0.0], tag: "t")
    let whole = record(["a": 1, "b": 20, "d": 4, "m": .null, "z": -0.0], tag: "t")

    let edit = whole.edit(from: ancestor)

    #expect(edit == record(["b": 20, "c": .null, "d": 4, "z": -0.0], tag: "t"))
  }

  @Test("An edit names the encrypted keys of its own fields only, removed ones included")
  func editKeepsEncryptedKeys() {
    var ancestor = record(["a": 1, "b": 2, "c": 3])
    ancestor.encryptedKeys = ["a", "b", "c"]
    var whole = record(["a": 1, "b": 20])
    whole.encryptedKeys = ["a", "b"]

    #expect(whole.edit(from: ancestor).encryptedKeys == ["b", "c"])
  }

  @Test("A record contains an edit if each field is there byte for byte, or gone where removed")
  func containsEdit() {
    let server = record(["a": 1, "b": "é", "n": .null])

    #expect(server.contains(edit: record([:])))
    #expect(server.contains(edit: record(["a": 1])))
    #expect(server.contains(edit: record(["a": 1, "b": "é", "gone": .null, "n": .null])))
    #expect(!server.contains(edit: record(["a": 1, "b": "e\u{301}"])))
    #expect(!server.contains(edit: record(["a": 1.0])))
    #expect(!server.contains(edit: record(["a": .null])))
    #expect(!server.contains(edit: record(["0": 1])))
    #expect(!server.contains(edit: record(["z": 1])))
    #expect(!server.contains(edit: record(["aa": 1])))
  }

  @Test("A record contains an edit's parent only if it is the same")
  func containsParent() {
    var edit = record(["a": 1])
    edit.parent = RecordFixtures.id("p")
    var server = record(["a": 1, "b": 2])
    #expect(!server.contains(edit: edit))
    server.parent = RecordFixtures.id("p")
    #expect(server.contains(edit: edit))
  }

  @Test("Applying an edit sets its fields and removes its nulls; the whole record's tag stays")
  func applying() {
    let whole = record(["a": 1, "b": 2, "c": 3], tag: "server")
    let edit = record(["a": .null, "b": 20, "d": 4, "x": .null], tag: "client")

    #expect(whole.applying(edit) == record(["b": 20, "c": 3, "d": 4], tag: "server"))
  }

  @Test("A difference keeps the fields that the server has otherwise, and the edit's own tag")
  func difference() {
    let server = record(["a": 1, "b": 2, "s": 9], tag: "server")
    let edit = record(["a": 1, "b": 3, "c": 4, "x": .null], tag: "client")

    #expect(edit.difference(from: server) == record(["b": 3, "c": 4], tag: "client"))
    #expect(record(["s": .null]).difference(from: server) == record(["s": .null]))
    #expect(record([:]).difference(from: server) == record([:]))
  }

  private func randomRecord(_ random: inout RecordFixtures.Random, nulls: Bool) -> Record {
    var fields: [String: FieldValue] = [:]
    for name in ["a", "b", "c", "long_field_name_number_1", "long_field_name_number_2", "z"] {
      switch random.below(nulls ? 5 : 4) {
      case 0: fields[name] = 1
      case 1: fields[name] = "two"
      case 4: fields[name] = .null
      default: break
      }
    }
    return record(fields, tag: "t")
  }

  @Test("The laws of edits hold for random records", arguments: UInt64(0)..<500)
  func laws(seed: UInt64) {
    var random = RecordFixtures.Random(seed: seed)
    let old = randomRecord(&random, nulls: false)
    let new = randomRecord(&random, nulls: false)
    let first = randomRecord(&random, nulls: true)
    let second = randomRecord(&random, nulls: true)

    #expect(old.applying(new.edit(from: old)) == new)
    #expect(old.applying(first).contains(edit: first))
    #expect(
      old.applying(first).applying(second) == old.applying(first.merging(later: second))
    )
    #expect(old.applying(first.difference(from: old)) == old.applying(first))
    #expect(old.contains(edit: first) == first.difference(from: old).fields.isEmpty)
    #expect(old.edit(from: old).fields.isEmpty)
  }
}

import Foundation
import Testing

@testable import CloudSyncCore

@Suite("RecordRules")
struct RecordRulesTests {
  private let zone = RecordFixtures.zone

  private func violation(_ record: Record) -> RecordRuleViolation? {
    do {
      try RecordRules.check(record, zone: zone)
      return nil
    } catch {
      return error
    }
  }

  private func named(_ name: String) -> Record {
    Record(recordType: "T", recordID: RecordFixtures.id(name))
  }

  @Test("A record of every kind of value passes")
  func goodRecordPasses() {
    var record = RecordFixtures.fullRecord
    #expect(violation(record) == nil)
    record.parent = nil
    #expect(violation(record) == nil)
  }

  @Test("Record names of 1 to 255 ASCII characters without a leading underscore pass")
  func recordNames() {
    for name in ["a", "A-1.b:c d", "cloudkit.zoneshare", "1", String(repeating: "x", count: 255)] {
      #expect(violation(named(name)) == nil)
    }
    for name in ["", "_a", "é", "abcdefghé", String(repeating: "x", count: 256)] {
      #expect(violation(named(name))?.rule == .recordName)
    }
  }

  @Test("Zone names follow the same rule, and the default zone is allowed")
  func zoneNames() throws {
    try RecordRules.check(ZoneID(name: "Notes", owner: "_anybody"))
    try RecordRules.check(ZoneID(name: ZoneID.defaultZoneName))
    for name in ["", "_mine", "ü", String(repeating: "x", count: 256)] {
      let error = #expect(throws: RecordRuleViolation.self) {
        try RecordRules.check(ZoneID(name: name))
      }
      #expect(error?.rule == .zoneName)
    }
  }

  @Test("A record or ID of another zone is refused")
  func otherZone() {
    let other = ZoneID(name: "Notes", owner: "eve", scope: .shared)

    let error = #expect(throws: RecordRuleViolation.self) {
      try RecordRules.check(RecordFixtures.id("a"), zone: other)
    }

    #expect(error?.rule == .zone(expected: other))
    #expect(error?.description.contains("Notes/a") == true)
  }

  @Test("Record types and field names are letters, digits and underscores after a letter")
  func identifiers() {
    for good in ["T", "t", "Note2", "a_b_", String(repeating: "x", count: 255)] {
      #expect(violation(Record(recordType: good, recordID: RecordFixtures.id("n"))) == nil)
      #expect(violation(RecordFixtures.record([good: 1])) == nil)
    }
    let bad = ["", "2", "_a", "a-b", "a.b", "é", "aé", "a b", String(repeating: "x", count: 256)]
    for bad in bad {
      let typed = Record(recordType: bad, recordID: RecordFixtures.id("n"))
      #expect(violation(typed)?.rule == .recordType)
      let error = violation(RecordFixtures.record(["good": 1, bad: 1]))
      #expect(error?.rule == .fieldName)
      #expect(error?.field == bad)
    }
  }

  @Test("Exactly the ASCII letters, digits and the underscore count as such")
  func everyASCIICharacter() {
    let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    let rest = letters.union("0123456789_".utf8)

    for byte in UInt8(0)..<128 {
      let character = String(UnicodeScalar(byte))
      #expect(RecordRules.isIdentifier(character) == letters.contains(byte))
      #expect(RecordRules.isIdentifier("a" + character) == rest.contains(byte))
    }
  }

  @Test("Each byte of a field's name counts, in names of every length")
  func everyByteOfIdentifiers() {
    for length in 2...20 {
      for place in 1..<length {
        for byte: UInt8 in [0, 0x2f, 0x3a, 0x40, 0x5b, 0x5e, 0x60, 0x7b, 0x7f] {
          var bytes = [UInt8](repeating: 0x7a, count: length)
          #expect(RecordRules.isIdentifier(String(decoding: bytes, as: UTF8.self)))
          bytes[place] = byte
          #expect(!RecordRules.isIdentifier(String(decoding: bytes, as: UTF8.self)))
        }
        let letters = String(repeating: "a", count: place)
        #expect(!RecordRules.isIdentifier(letters + "ä" + letters))
      }
    }
  }

  @Test("The type of shares passes")
  func shareTypePasses() {
    let share = Record(recordType: "cloudkit.share", recordID: RecordFixtures.id("share"))

    #expect(violation(share) == nil)
  }

  @Test("A parent must be a valid name in the record's own zone")
  func parents() {
    var record = named("a")
    record.parent = RecordFixtures.id("_b")
    #expect(violation(record)?.rule == .parent)
    record.parent = RecordID(name: "b", zoneID: ZoneID(name: "Other"))
    #expect(violation(record)?.rule == .parent)
  }

  @Test("Lists may be nested eight deep, and no deeper")
  func listDepth() {
    var value: FieldValue = 1
    for _ in 0..<8 { value = [2, value, "x"] }
    #expect(violation(RecordFixtures.record(["list": value])) == nil)
    let error = violation(RecordFixtures.record(["list": [value]]))
    #expect(error?.rule == .listDepth(limit: 8))
    #expect(error?.field == "list")
  }

  @Test("A record may have a million bytes, and not one more")
  func size() {
    let empty = RecordFixtures.record(["d": .data(Data())]).byteCount
    let full = Data(count: 1_000_000 - empty)
    #expect(violation(RecordFixtures.record(["d": .data(full)])) == nil)
    let error = violation(RecordFixtures.record(["d": .data(full + [0])]))
    #expect(error?.rule == .size(byteCount: 1_000_001, limit: 1_000_000))
  }

  @Test("Every violation says which record and field, and what to do")
  func descriptions() {
    let rules: [RecordRuleViolation.Rule] = [
      .zone(expected: zone), .zoneName, .recordName, .recordType, .fieldName, .parent,
      .listDepth(limit: 8), .size(byteCount: 2, limit: 1),
    ]

    let texts = rules.map {
      RecordRuleViolation(subject: "Note Notes/n1", field: "tags", rule: $0).description
    }

    #expect(texts.allSatisfy { $0.hasPrefix("Note Notes/n1, field “tags”: ") })
    #expect(Set(texts).count == texts.count)
  }
}

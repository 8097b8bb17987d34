import Testing

@testable import CloudSyncCore

@Suite("Pending changes")
struct PendingChangeTests {
  private static func save(_ title: String, by source: UInt64) -> PendingChange {
    let recordID = RecordID(name: "a", zoneID: ZoneID(name: "Notes"))
    let record = Record(recordType: "Note", recordID: recordID, fields: ["title": .string(title)])
    return PendingChange(intent: .save(record), ancestor: nil, byteCount: 10, source: source)
  }

  @Test("Merged edits are numbered in order, and a version that is kept does not see later ones")
  func mergedSources() {
    var change = Self.save("0", by: 1)
    var kept: [PendingChange] = []
    for number: UInt64 in 2...2_000 {
      let isMerged = change.merge(Self.save("\(number)", by: number))
      #expect(isMerged)
      if number % 500 == 0 { kept.append(change) }
    }

    #expect(change.source == 1)
    #expect(change.furtherSources == Array(2...2_000))
    #expect(change.edit?["title"] == .string("2000"))
    #expect(kept.map(\.furtherSources.count) == [499, 999, 1_499, 1_999])
  }

  @Test("What is undone leaves no history, so that equal changes are coded alike")
  func noHistory() {
    let plain = Self.save("0", by: 1)
    var change = plain
    change.failures = 1
    change.doubt = .unanswered
    #expect(change.hasHistory)

    change.failures = 0
    change.doubt = .none

    #expect(!change.hasHistory)
    #expect(change.codedBytes == plain.codedBytes)
  }

  @Test("Waits are counted up to 255, each cause by itself")
  func countersSaturate() {
    var counters = RetryCounters()
    for _ in 0..<300 { counters[.network] += 1 }
    counters[.storage] += 1
    counters[.lostResponse] -= 1

    #expect(counters[.network] == 255 && counters[.storage] == 1 && counters[.lostResponse] == 0)
    #expect(counters.most == 255 && counters.hasAny)
    counters[.network] = 0
    #expect(counters.most == 1)
  }
}

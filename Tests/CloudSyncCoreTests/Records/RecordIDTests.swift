import Foundation
import Testing

@testable import CloudSyncCore

@Suite("RecordID and ZoneID")
struct RecordIDTests {
  @Test("IDs of the same bytes are equal and hash alike, whatever their storage")
  func equalityIsOfBytes() {
    let first = RecordID(name: "a", zoneID: ZoneID(name: "zone", owner: "o", scope: .shared))
    let again = RecordID(name: "a", zoneID: ZoneID(name: "zone", owner: "o", scope: .shared))

    #expect(first == again)
    #expect(first.hashValue == again.hashValue)
    #expect(first.stableHash == again.stableHash)
    #expect(Set([first, again]).count == 1)
  }

  @Test("Canonically equal names are different names")
  func unicodeFormsDiffer() {
    #expect(RecordFixtures.id("é") != RecordFixtures.id("e\u{301}"))
    #expect(ZoneID(name: "é") != ZoneID(name: "e\u{301}"))
    #expect(ZoneID(name: "z", owner: "é") != ZoneID(name: "z", owner: "e\u{301}"))
    #expect(Set([RecordFixtures.id("é"), RecordFixtures.id("e\u{301}")]).count == 2)
  }

  @Test("Each part of a zone tells it apart")
  func zonePartsDiffer() {
    let zone = ZoneID(name: "n", owner: "o", scope: .private)

    for other in [
      ZoneID(name: "m", owner: "o", scope: .private), ZoneID(name: "n", owner: "p"),
      ZoneID(name: "n", owner: "o", scope: .shared), ZoneID(name: "no", owner: ""),
    ] {
      #expect(zone != other)
      #expect(zone.stableHash != other.stableHash)
    }
  }

  @Test("IDs are ordered by scope, owner and zone, then by the bytes of the name")
  func orderIsOfBytes() {
    let zones = [
      ZoneID(name: "b", owner: "a"), ZoneID(name: "a", owner: "b"),
      ZoneID(name: "a", owner: "a", scope: .shared), ZoneID(name: "a", owner: "a", scope: .public),
    ]
    let names = [
      "", "B", "a", "aaaaaaaab", "aaaaaaaac", "aaaaaaaacd", "b", "e\u{301}", "z", "é", "\u{1f680}",
    ]
    let sorted = zones.flatMap { zone in names.map { RecordID(name: $0, zoneID: zone) } }

    for (left, first) in sorted.enumerated() {
      for (right, second) in sorted.enumerated() {
        #expect(RecordID.precedes(first, second) == (left < right))
        #expect((first < second) == (left < right))
        #expect((first == second) == (left == right))
      }
    }
  }

  @Test("The stable hash is the same in every process")
  func stableHashIsPinned() {
    #expect(RecordFixtures.id("").stableHash == 11_128_703_261_031_199_185)
    #expect(RecordFixtures.id("short").stableHash == 1_082_825_069_325_192_885)
    let uuid = RecordFixtures.id("2F1B7D3C-5A0E-4E7B-9C58-6D1A0B3F9E21")
    #expect(uuid.stableHash == 548_340_975_190_279_750)
  }

  @Test("The stable hash spreads 100,000 counted names over all its bits")
  func stableHashSpreads() {
    var seen: Set<UInt64> = []
    var low = [Int](repeating: 0, count: 64)
    var high = [Int](repeating: 0, count: 64)

    for number in 0..<100_000 {
      let hash = RecordFixtures.id("record-\(number)").stableHash
      seen.insert(hash)
      low[Int(hash & 63)] += 1
      high[Int(hash >> 58)] += 1
    }

    #expect(seen.count == 100_000)
    #expect(low.allSatisfy { (1300...1825).contains($0) })
    #expect(high.allSatisfy { (1300...1825).contains($0) })
  }

  @Test("Descriptions name zone and record")
  func descriptions() {
    #expect(RecordFixtures.id("a").description == "Notes/a")
    let foreign = ZoneID(name: "z", owner: "eve", scope: .shared)
    #expect(RecordID(name: "a", zoneID: foreign).description == "shared:eve/z/a")
  }
}

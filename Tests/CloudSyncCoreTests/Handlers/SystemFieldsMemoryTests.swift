import CloudSyncCore
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("SystemFieldsMemory")
struct SystemFieldsMemoryTests {
  private func id(_ number: Int) -> RecordID {
    RecordID(name: "r\(number)", zoneID: ZoneID(name: "Notes"))
  }

  private func entry(_ number: Int, _ byte: UInt8) -> SystemFields {
    SystemFields(recordID: id(number), bytes: Data([byte]))
  }

  @Test("What was saved last is loaded, in the order that was asked for")
  func loads() {
    let memory = SystemFieldsMemory()
    memory.save([entry(1, 1), entry(2, 2)])
    memory.save([entry(1, 3)])

    #expect(memory.load([id(2), id(3), id(1)]) == [Data([2]), nil, Data([3])])
  }

  @Test("A removed record is not there")
  func removes() {
    let memory = SystemFieldsMemory()
    memory.save([entry(1, 1), entry(2, 2)])

    memory.remove([id(1), id(3)])

    #expect(memory.load([id(1), id(2)]) == [nil, Data([2])])
  }

  @Test("It never holds more than its limit, and at least the newest half of it")
  func bounded() {
    let memory = SystemFieldsMemory(limit: 100)

    for number in 0..<1_000 {
      memory.save([entry(number, 1)])
      #expect(memory.count <= 100)
    }

    let newest = memory.load((950..<1_000).map { id($0) })
    #expect(newest.allSatisfy { $0 != nil })
    #expect(memory.load([id(0)]) == [nil])
  }

  @Test("A record that is used stays while others go")
  func usedStays() {
    let memory = SystemFieldsMemory(limit: 100)
    memory.save([entry(-1, 9)])

    for number in 0..<1_000 {
      memory.save([entry(number, 1)])
      #expect(memory.load([id(-1)]) == [Data([9])])
    }
  }
}

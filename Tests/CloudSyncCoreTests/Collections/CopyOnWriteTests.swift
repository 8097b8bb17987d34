import Testing

@testable import CloudSyncCore

@Suite("CopyOnWrite")
struct CopyOnWriteTests {
  @Test("A kept copy does not see a later change")
  func keptCopyStays() {
    var box = CopyOnWrite([1, 2])
    let kept = box

    box.value.append(3)

    #expect(box.value == [1, 2, 3])
    #expect(kept.value == [1, 2])
    #expect(!box.sharesStorage(with: kept))
  }

  @Test("A copy shares the box until one of them changes, and reading is no change")
  func readingShares() {
    let box = CopyOnWrite([1, 2])
    let other = box

    #expect(other.value.count == 2)
    #expect(box.sharesStorage(with: other))
  }

  @Test("A box that nobody else holds is changed in place")
  func changesInPlace() {
    var box = CopyOnWrite(Array(0..<100))
    let before = box.value.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }

    for index in 0..<100 { box.value[index] += 1 }

    let after = box.value.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    #expect(before == after)
    #expect(box.value.last == 100)
  }
}

import CloudSyncTestSupport
import Testing

@testable import CloudSyncCore

@Suite("Open operations")
struct OpenOperationsTests {
  private static func open(_ number: UInt64) -> OpenOperation {
    OpenOperation(
      ModifyOperation(recordIDsToDelete: [])
        .submitted(as: OperationID(epoch: 1, number: number), records: [], byteCount: 0)
    )
  }

  /// What there is to see of them.
  private static func seen(_ open: some Sequence<OpenOperation>) -> [String] {
    open.map { "\($0.number): \($0.left)" }
  }

  @Test(
    "They are what a plain list would be, also in versions that are kept",
    arguments: 0..<8 as Range<UInt64>
  )
  func followsModel(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var subject = OpenOperations()
    var model: [OpenOperation] = []
    var kept: [(subject: OpenOperations, seen: [String])] = []
    var next: UInt64 = 1
    // Growing first, then shrinking to nothing.
    for step in 0..<2_000 {
      let grows = random.chance(step < 1_000 ? 6 : 2, in: 8)
      if grows || model.isEmpty {
        next += UInt64(1 + random.below(3))
        subject.append(Self.open(next))
        model.append(Self.open(next))
      } else if random.chance(1, in: 3) {
        #expect(subject.popFirst()?.number == model.removeFirst().number)
      } else if random.chance(1, in: 2) {
        let number = model[random.below(model.count)].number
        #expect(subject.change(number) { open in open.left = step } != nil)
        for place in model.indices where model[place].number == number { model[place].left = step }
      } else {
        let place = random.below(model.count)
        #expect(subject.remove(model[place].number)?.left == model[place].left)
        model.remove(at: place)
      }
      if step % 100 == 0 { kept.append((subject, Self.seen(model))) }
      #expect(subject.count == model.count && subject.isEmpty == model.isEmpty)
      #expect(subject.first?.number == model.first?.number)
      #expect(subject.last?.number == model.last?.number)
    }
    #expect(Self.seen(subject) == Self.seen(model))
    for (version, seen) in kept { #expect(Self.seen(version) == seen) }
  }

  @Test("One that is not there is not found, changed or removed")
  func absent() {
    var subject = OpenOperations()
    #expect(subject.popFirst() == nil && subject.remove(1) == nil)
    for number: UInt64 in [2, 4, 6] { subject.append(Self.open(number)) }

    for number: UInt64 in [0, 1, 3, 5, 7] {
      #expect(subject[number] == nil)
      #expect(subject.change(number) { $0.left = 1 } == nil)
      #expect(subject.remove(number) == nil)
    }
    #expect(Self.seen(subject) == ["2: 0", "4: 0", "6: 0"])
  }
}

import CloudSyncTestSupport
import Testing

@testable import CloudSyncCore

/// The smallest coded value.
private struct Item: CodedValue {
  var number: Int64

  init(_ number: Int) { self.number = Int64(number) }

  func write<W: CodedWriter>(to writer: inout W) { writer.write(number) }
  init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    number = try reader.readInt64()
  }
}

/// An element whose release can be observed.
private final class Token: Sendable {}

@Suite("PersistentQueue")
struct PersistentQueueTests {
  /// A queue of these elements that has lived: as many more have passed through it before.
  private func aged(_ numbers: Range<Int>, passed: Int) -> PersistentQueue<Item> {
    var queue = PersistentQueue<Item>()
    for number in 0..<passed { queue.append(Item(-number)) }
    for number in numbers { queue.append(Item(number)) }
    for _ in 0..<passed { _ = queue.popFirst() }
    return queue
  }

  @Test(
    "Behaves as an array, and kept versions do not change",
    arguments: SuiteSize.some(2, of: Array(UInt64(0)..<12))
  )
  func modelBased(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var queue = PersistentQueue<Int>()
    var model: [Int] = []
    var kept: [(PersistentQueue<Int>, [Int])] = []
    for step in 0..<4000 {
      // Periods of growth and of decline; odd seeds grow long.
      let appends = step / 800 % 2 == 0 ? (seed % 2 == 0 ? 55 : 75) : 35
      switch random.below(100) {
      case 0..<appends:
        queue.append(step)
        model.append(step)
      case appends..<90:
        #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
      case 90..<99 where !model.isEmpty:
        let index = random.below(model.count)
        #expect(queue[index] == model[index])
        queue.replace(at: index, with: -step)
        model[index] = -step
      case 99 where step % 5 == 0 && !kept.isEmpty:
        // Goes on from an old version, which must survive it.
        (queue, model) = kept[random.below(kept.count)]
      default:
        break
      }
      #expect(queue.count == model.count && queue.first == model.first)
      if random.below(20) == 0 { kept.append((queue, model)) }
    }
    for (queue, model) in kept + [(queue, model)] {
      #expect(Array(queue) == model)
      #expect(model.indices.allSatisfy { queue[$0] == model[$0] })
    }
  }

  @Test("Every length up to a few levels keeps order, ends and places", arguments: [0, 1, 8, 70])
  func everyLength(passed: Int) {
    for length in 0..<150 {
      let queue = aged(0..<length, passed: passed)

      #expect(queue.count == length && queue.isEmpty == (length == 0))
      #expect(queue.first?.number == (length == 0 ? nil : 0))
      #expect(queue.map(\.number) == (0..<Int64(length)).map { $0 })
      #expect((0..<length).allSatisfy { queue[$0].number == Int64($0) })
    }
  }

  @Test("Replacing at every place changes that place alone, and no kept version")
  func replaceEverywhere() {
    let original = aged(0..<1200, passed: 333)
    var queue = original
    for index in stride(from: 0, to: 1200, by: 7) { queue.replace(at: index, with: Item(-1)) }

    #expect((0..<1200).allSatisfy { queue[$0].number == ($0 % 7 == 0 ? -1 : Int64($0)) })
    #expect((0..<1200).allSatisfy { original[$0].number == Int64($0) })
  }

  @Test("A million elements come out in order, and are released")
  func million() {
    let length = 1_000_000
    var queue = PersistentQueue(0..<length)
    let kept = queue

    #expect([0, 1, 8, 4095, 77_777, length - 1].allSatisfy { queue[$0] == $0 })
    var expected = 0
    while let element = queue.popFirst(), element == expected { expected += 1 }

    #expect(expected == length)
    #expect(queue.isEmpty && queue.popFirst() == nil)
    #expect(kept.count == length && kept.first == 0 && kept[length - 1] == length - 1)
  }

  @Test("What left the queue is let go with its chunk, and all of it with the last element")
  func release() {
    var queue = PersistentQueue<Token>()
    weak var first: Token?
    weak var last: Token?
    for number in 0..<100 {
      let token = Token()
      if number == 0 { first = token }
      if number == 99 { last = token }
      queue.append(token)
    }

    for _ in 0..<8 { _ = queue.popFirst() }
    #expect(first == nil)
    #expect(last != nil)
    while queue.popFirst() != nil {}
    #expect(last == nil)
  }

  @Test("Removing all leaves an empty queue that works on, and kept versions whole")
  func removeAll() {
    var queue = PersistentQueue(0..<500)
    let kept = queue

    queue.removeAll()
    #expect(queue.isEmpty && queue.first == nil)
    queue.append(7)

    #expect(Array(queue) == [7])
    #expect(Array(kept) == Array(0..<500))
  }

  @Test("Queues of equal elements are equal, whatever has passed through them")
  func canonicalEquality() {
    for passed in [1, 7, 8, 9, 64, 100, 600] {
      let direct = PersistentQueue((0..<200).map { Item($0) })
      let aged = aged(0..<200, passed: passed)

      #expect(aged == direct)
      #expect(aged.hashValue == direct.hashValue)
      #expect(aged.codedBytes == direct.codedBytes)
    }
    #expect(aged(0..<200, passed: 3) != aged(0..<201, passed: 3))
    #expect(aged(0..<200, passed: 3) != aged(1..<201, passed: 3))
  }

  @Test("The coded form is the array of the elements", arguments: [0, 1, 8, 9, 1000])
  func coding(length: Int) throws {
    let queue = aged(0..<length, passed: 21)
    var writer = BinaryWriter()
    writer.write(Array(queue))

    #expect(queue.codedBytes == writer.bytes)
    #expect(try PersistentQueue<Item>(codedBytes: queue.codedBytes) == queue)
  }

  @Test("Coded bytes that end too soon are an error")
  func damaged() {
    let bytes = Array(aged(0..<20, passed: 0).codedBytes.dropLast())

    #expect(throws: CodedError.self) { try PersistentQueue<Item>(codedBytes: bytes) }
  }
}

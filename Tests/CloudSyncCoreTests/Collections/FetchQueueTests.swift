import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("FetchQueue")
struct FetchQueueTests {
  private static func fetch(_ number: UInt64, epoch: UInt64 = 1) -> FetchOperation {
    var operation = FetchOperation(startingOver: number % 2 == 0)
    operation.id = OperationID(epoch: epoch, number: number)
    return operation
  }

  @Test("It holds what an array holds, whatever names come and in whatever order they go")
  func againstArray() throws {
    for seed in 1...10 as ClosedRange<UInt64> {
      var random = SplitMix64(seed: seed)
      var queue = FetchQueue()
      var wanted: [FetchOperation] = []
      for number in 0..<400 as Range<UInt64> {
        // Some have no name, some that of another, and some come late.
        let name =
          switch random.below(8) {
          case 0: OperationID.unassigned
          case 1: OperationID(epoch: 2, number: number / 2)
          default: OperationID(epoch: 1, number: number)
          }
        var operation = Self.fetch(number)
        operation.id = name
        queue.append(operation)
        wanted.append(operation)
        let id = OperationID(epoch: 1, number: UInt64(random.below(Int(number) + 1)))
        let gone = random.chance(1, in: 5) ? OperationID.unassigned : id
        let place = wanted.firstIndex { $0.id == gone }
        #expect(queue.contains(gone) == (place != nil))
        #expect(queue.remove(gone) == place.map { wanted.remove(at: $0) })
        #expect(queue.count == wanted.count && queue.first == wanted.first)
      }
      #expect(Array(queue) == wanted)
      let other = wanted.reduce(into: FetchQueue()) { $0.append($1) }
      #expect(queue == other)
    }
  }

  @Test("It is coded as the array of its elements, whatever numbers a damaged one has")
  func coding() throws {
    let all = [3, 5, .max, 5, 1 << 62, 9].map { Self.fetch($0) }
    let queue = all.reduce(into: FetchQueue()) { $0.append($1) }
    var writer = BinaryWriter()
    queue.write(to: &writer)
    var plain = BinaryWriter()
    PersistentQueue(all).write(to: &plain)
    #expect(writer.bytes == plain.bytes)

    var reader = BinaryReader(writer.bytes)
    var again = try FetchQueue(from: &reader)
    #expect(Array(again) == all)
    for operation in all { #expect(again.remove(operation.id) == operation) }
    #expect(again.isEmpty)
  }
}

import CloudSyncSimulator
import Testing

@Suite("SeededRandom")
struct SeededRandomTests {
  @Test("The numbers of a seed never change")
  func isStable() {
    var random = SeededRandom(seed: 42)
    let numbers = (0..<4).map { _ in random.next() }
    #expect(
      numbers == [
        13_679_457_532_755_275_413, 2_949_826_092_126_892_291, 5_139_283_748_462_763_858,
        6_349_198_060_258_255_764,
      ]
    )
    var fork = SeededRandom(seed: 42).fork(1)
    #expect(fork.next() == 7_575_206_361_173_662_766)
  }

  @Test("Bounded numbers stay within their bounds and meet all of them")
  func bounds() {
    var random = SeededRandom(seed: 1)
    var seen = Array(repeating: 0, count: 5)
    for _ in 0..<1_000 { seen[random.below(5)] += 1 }
    #expect(seen.allSatisfy { $0 > 150 && $0 < 250 })
    #expect((0..<100).allSatisfy { _ in (3...4).contains(random.within(3...4)) })
    #expect(!(0..<100).contains { _ in random.chance(0, in: 3) })
  }

  @Test("A fork for a purpose does not depend on what was drawn for another")
  func forks() {
    let random = SeededRandom(seed: 9)
    var first = random.fork(1)
    var second = random.fork(2)
    var again = random.fork(1)
    let number = first.next()
    #expect(number == again.next())
    #expect(number != second.next())
  }

  @Test("Shuffling keeps the elements")
  func shuffles() {
    var random = SeededRandom(seed: 5)
    var elements = Array(0..<20)
    random.shuffle(&elements)
    #expect(elements != Array(0..<20))
    #expect(elements.sorted() == Array(0..<20))
  }
}

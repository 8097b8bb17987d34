import CloudSyncCore
import CloudSyncSQLite
import Testing

@Suite("HybridTime")
struct HybridTimeTests {
  @Test("The clock follows the milliseconds, counts within one, and never goes back")
  func next() {
    let first = HybridTime.next(after: .zero, now: 1000)
    let second = HybridTime.next(after: first, now: 1000)
    let third = HybridTime.next(after: second, now: 900)
    let fourth = HybridTime.next(after: third, now: 1001)

    #expect(first.rawValue == 1000 << 16)
    #expect(second.rawValue == first.rawValue + 2)
    #expect(third.rawValue == first.rawValue + 4)
    #expect(fourth.rawValue == 1001 << 16)
    #expect(fourth.milliseconds == 1001)
    #expect("\(third)" == "1000.4")
  }

  @Test("The engine's own edits never have a time that one of the app's has", arguments: 1...4)
  func successors(count: Int) {
    let known = HybridTime.next(after: .zero, now: 1000)
    var own = known
    for _ in 0..<count { own = own.successor }
    var later = known
    for _ in 0..<4 {
      later = .next(after: later, now: 0)
      #expect(later != own)
    }
    #expect(own > known)
    #expect(HybridTime.next(after: own, now: 0) > own)
  }

  @Test("The clock stops at the ends of its range instead of trapping")
  func ends() {
    let last = HybridTime(rawValue: .max)

    #expect(HybridTime.next(after: last, now: .max) == last)
    #expect(HybridTime.next(after: .zero, now: .min).rawValue == 2)
    #expect(HybridTime.next(after: .zero, now: .max).milliseconds == .max >> 16)
  }

  @Test("A time codes as its number", arguments: [Int64.min, -1, 0, 1, .max])
  func coding(number: Int64) throws {
    let time = HybridTime(rawValue: number)

    #expect(try HybridTime(codedBytes: time.codedBytes) == time)
  }
}

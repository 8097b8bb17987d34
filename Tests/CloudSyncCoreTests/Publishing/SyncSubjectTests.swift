import CloudSyncCore
import Dispatch
import CloudSyncTestSupport
import Testing

@Suite("SyncSubject")
struct SubjectTests {
  @Test("Every subscriber gets every value in order, also when the subscription is thrown away")
  func deliversInOrder() {
    let subject = SyncSubject<Int>()
    let first = Collector<Int>()
    let second = Collector<Int>()
    subject.sink { first.add($0) }
    subject.send(1)
    subject.sink { second.add($0) }

    subject.send(2)
    subject.send(3)

    #expect(first.entries == [1, 2, 3])
    #expect(second.entries == [2, 3])
  }

  @Test("A subject that replays gives a new subscriber the last value before sink returns")
  func replaysLast() {
    let subject = SyncSubject<Int?>(replaysLast: true)
    let journal = Collector<Int?>()
    let early = Collector<Int?>()
    subject.sink { early.add($0) }
    #expect(early.entries.isEmpty)
    subject.send(1)
    subject.send(nil)

    subject.sink { journal.add($0) }

    #expect(journal.entries == [nil])
    subject.send(2)
    #expect(journal.entries == [nil, 2])
    #expect(early.entries == [1, nil, 2])
  }

  @Test("A value that is kept before it is sent reaches everybody once, whenever they subscribe")
  func keepsBeforeSending() {
    let subject = SyncSubject<Int>(replaysLast: true)
    let early = Collector<Int>()
    let between = Collector<Int>()
    let late = Collector<Int>()
    subject.keep(1)
    subject.sink { early.add($0) }

    subject.keep(2)
    #expect(subject.kept == 2)
    subject.sink { between.add($0) }
    #expect(between.entries == [2])
    subject.sendKept()
    subject.sink { late.add($0) }

    #expect(early.entries == [1, 2])
    #expect(between.entries == [2])
    #expect(late.entries == [2])
    subject.keep(3)
    subject.keep(4)
    subject.sendKept()
    #expect(early.entries == [1, 2, 4])
    #expect(between.entries == [2, 4])
    #expect(late.entries == [2, 4])
  }

  @Test("A value sent while the last one is being replayed comes after it")
  func sendDuringReplay() {
    let subject = SyncSubject<Int>(replaysLast: true)
    let journal = Collector<Int>()
    subject.send(1)

    subject.sink { value in
      journal.add(value)
      if value < 4 { subject.send(value + 1) }
      journal.add(-value)
    }

    #expect(journal.entries == [1, -1, 2, -2, 3, -3, 4, -4])
  }

  @Test("A value sent from inside a subscriber reaches everybody after the one under way")
  func sendInsideSink() {
    let subject = SyncSubject<Int>()
    let journal = Collector<String>()
    subject.sink { value in
      journal.add("a\(value)")
      if value < 3 { subject.send(value + 1) }
      journal.add("a\(value) ends")
    }
    subject.sink { journal.add("b\($0)") }

    subject.send(1)

    let expected = ["a1", "a1 ends", "b1", "a2", "a2 ends", "b2", "a3", "a3 ends", "b3"]
    #expect(journal.entries == expected)
  }

  @Test("A subscription added during a send sees the next value that is sent")
  func sinkDuringSend() {
    let subject = SyncSubject<Int>()
    let journal = Collector<Int>()
    subject.sink { value in
      guard value == 1 else { return }
      subject.send(2)
      subject.sink { journal.add($0) }
      subject.send(3)
    }

    subject.send(1)

    #expect(journal.entries == [3])
  }

  @Test("A subscription added during a send to a replaying subject gets that value at once")
  func sinkDuringReplayingSend() {
    let subject = SyncSubject<Int>(replaysLast: true)
    let journal = Collector<Int>()
    subject.sink { value in
      guard value == 1 else { return }
      subject.sink { journal.add($0) }
      journal.add(0)
    }

    subject.send(1)
    subject.send(2)

    #expect(journal.entries == [1, 0, 2])
  }

  @Test("A subscription cancelled during a send gets nothing more, and nobody else misses a value")
  func cancelDuringSend() {
    let subject = SyncSubject<Int>()
    let journal = Collector<String>()
    let held = Locked<[SyncSubscription]>([])
    subject.sink { journal.add("a\($0)") }.store(in: held)
    subject.sink { value in
      journal.add("b\(value)")
      if value == 2 { for subscription in held.withLock({ $0 }) { subscription.cancel() } }
    }
    .store(in: held)
    subject.sink { journal.add("c\($0)") }.store(in: held)
    subject.sink { journal.add("d\($0)") }

    for value in 1...3 { subject.send(value) }

    #expect(journal.entries == ["a1", "b1", "c1", "d1", "a2", "b2", "d2", "d3"])
  }

  @Test("Subscriptions cancelled in any order take no value from the others, nor their order")
  func cancelInAnyOrder() {
    var random = SplitMix64(seed: 7)
    for _ in 0..<20 {
      let subject = SyncSubject<Int>()
      let journal = Collector<Int>()
      var here: [(number: Int, subscription: SyncSubscription)] = []
      for number in 0..<200 {
        here.append((number, subject.sink { _ in journal.add(number) }))
        if random.chance(2, in: 3) {
          here.remove(at: random.below(here.count)).subscription.cancel()
        }
      }
      while !here.isEmpty {
        let before = journal.entries.count
        subject.send(0)
        #expect(journal.entries.dropFirst(before) == here.map(\.number)[...])
        for _ in 0..<min(here.count, 5) {
          here.remove(at: random.below(here.count)).subscription.cancel()
        }
      }
      #expect(!subject.hasSubscribers)
    }
  }

  @Test("Many cancelled during a send: each of the others gets the value once, in order")
  func cancelManyDuringSend() {
    let subject = SyncSubject<Int>()
    let journal = Collector<Int>()
    let held = Locked<[SyncSubscription]>([])
    for number in 0..<100 {
      subject.sink { _ in
        journal.add(number)
        // Those before it, itself, and every other one behind it.
        guard number == 40 else { return }
        for (place, subscription) in held.withLock({ $0 }).enumerated()
        where place <= 40 || place % 2 == 0 { subscription.cancel() }
      }
      .store(in: held)
    }

    subject.send(1)
    let first = journal.entries
    subject.send(2)

    let others = (41..<100).filter { $0 % 2 == 1 }
    #expect(first == Array(0...40) + others)
    #expect(journal.entries.dropFirst(first.count) == others[...])
  }

  @Test("A subscription cancelled while the last value is replayed to it gets no later one")
  func cancelDuringReplay() {
    let subject = SyncSubject<Int>(replaysLast: true)
    let journal = Collector<Int>()
    let held = Locked<[SyncSubscription]>([])
    for number in 1...3 { subject.sink { _ in journal.add(number) }.store(in: held) }
    subject.send(0)
    subject.sink { value in
      journal.add(10 + value)
      for subscription in held.withLock({ $0 }) { subscription.cancel() }
      if value == 0 { subject.send(1) }
    }

    #expect(journal.entries == [1, 2, 3, 10, 11])
  }

  @Test("A cancelled subscription releases its closure, and cancelling twice does nothing")
  func cancelReleases() {
    final class Token: Sendable {}
    let subject = SyncSubject<Int>()
    weak var token: Token?
    let subscription: SyncSubscription
    do {
      let made = Token()
      token = made
      subscription = subject.sink { _ in _ = made }
    }
    #expect(token != nil)
    #expect(subject.hasSubscribers)

    subscription.cancel()
    subscription.cancel()

    #expect(token == nil)
    #expect(!subject.hasSubscribers)
  }

  @Test("Values of eight threads reach two subscribers in one order, each thread's in its own")
  func concurrentSends() {
    let subject = SyncSubject<(thread: Int, number: Int)>()
    let first = Collector<[Int]>()
    let second = Collector<[Int]>()
    subject.sink { thread, number in first.add([thread, number]) }
    subject.sink { thread, number in second.add([thread, number]) }

    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<500 {
        subject.send((thread, number))
        subject.sink { _ in }.cancel()
      }
    }

    #expect(first.entries.count == 4_000)
    #expect(first.entries == second.entries)
    for thread in 0..<8 {
      #expect(first.entries.filter { $0[0] == thread }.map { $0[1] } == Array(0..<500))
    }
  }

  @Test("Subscribers that join while threads send see a gapless tail, the last value first")
  func concurrentReplay() {
    let subject = SyncSubject<Int>(replaysLast: true)
    subject.send(0)
    let journals = (0..<40).map { _ in Collector<Int>() }

    DispatchQueue.concurrentPerform(iterations: 2) { thread in
      if thread == 0 {
        for value in 1...2_000 { subject.send(value) }
      } else {
        for journal in journals { subject.sink { journal.add($0) } }
      }
    }

    for journal in journals {
      let entries = journal.entries
      let first = entries.first ?? -1
      #expect(first >= 0)
      #expect(entries == Array(first...2_000))
    }
  }
}

extension SyncSubscription {
  fileprivate func store(in held: Locked<[SyncSubscription]>) {
    held.withLock { store(in: &$0) }
  }
}

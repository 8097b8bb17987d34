import CloudSyncCore
import CloudSyncTestSupport
import Testing

@Suite("SyncPublisher")
struct PublisherTests {
  private struct Response: Sendable {
    var token: String?
    var records: [Int]
    var deleted: [Int]
  }

  @Test("map and sink take tuples apart as the README's usage does")
  func readsLikeTheReadme() {
    let completed = SyncSubject<(String, Response)>()
    let journal = Collector<String>()
    completed
      .map { _, response in
        (response.token, response.records, response.deleted)
      }
      .sink { token, records, deleted in
        if let token { journal.add("\(token) \(records) \(deleted)") }
      }

    completed.send(("operation", Response(token: "t", records: [1, 2], deleted: [3])))

    #expect(journal.entries == ["t [1, 2] [3]"])
  }

  @Test("compactMap drops nil, filter drops what it refuses, and they chain")
  func operators() {
    let subject = SyncSubject<String>()
    let journal = Collector<Int>()
    let subscription = subject.compactMap { Int($0) }.filter { $0 % 2 == 0 }.map { $0 * 10 }
      .sink { journal.add($0) }

    for text in ["1", "2", "x", "4"] { subject.send(text) }
    subscription.cancel()
    subject.send("6")

    #expect(journal.entries == [20, 40])
  }

  @Test("A publisher does not keep its subject alive; afterwards it gives nothing")
  func subjectReleased() async {
    var subject: SyncSubject<Int>? = SyncSubject(replaysLast: true)
    weak var weakSubject: SyncSubject<Int>?
    weakSubject = subject
    subject?.send(1)
    let publisher = subject?.map { $0 }
    let subscription = publisher?.sink { _ in }

    subject = nil

    #expect(weakSubject == nil)
    publisher?.sink { _ in Issue.record("Nothing can be published any more.") }
    subscription?.cancel()
    let values = await publisher?.values().reduce(into: []) { $0.append($1) }
    #expect(values == [])
  }
}

@Suite("SyncPublisher.values")
struct PublisherValuesTests {
  @Test("A stream that keeps all gives every value, and finishes when the subject is released")
  func keepsAll() async {
    var subject: SyncSubject<Int>? = SyncSubject()
    let stream = subject?.values(buffering: .all)

    for value in 0..<1_000 { subject?.send(value) }
    subject = nil

    let values = await stream?.reduce(into: []) { $0.append($1) }
    #expect(values == Array(0..<1_000))
  }

  @Test("A stream that keeps the newest gives the replayed value, then only the latest")
  func keepsNewest() async {
    var subject: SyncSubject<Int>? = SyncSubject(replaysLast: true)
    subject?.send(1)
    let stream = subject?.map { $0 * 10 }.values(buffering: .newest)
    var iterator = stream?.makeAsyncIterator()

    #expect(await iterator?.next() == 10)
    subject?.send(2)
    subject?.send(3)
    subject = nil

    #expect(await iterator?.next() == 30)
    #expect(await iterator?.next() == nil)
  }

  @Test("Dropping a stream ends its subscription")
  func droppedStream() {
    let subject = SyncSubject<Int>()
    do {
      let stream = subject.values()
      #expect(subject.hasSubscribers)
      _ = consume stream
    }

    #expect(!subject.hasSubscribers)
  }

  @Test("Cancelling the task that reads a stream ends its subscription")
  func cancelledReader() async {
    let subject = SyncSubject<Int>()
    let (started, continuation) = AsyncStream.makeStream(of: Int.self)
    let reader = Task {
      for await value in subject.values() { continuation.yield(value) }
    }
    // The reader subscribes when it gets to run; a value that arrives proves that it has.
    var progress = started.makeAsyncIterator()
    while !subject.hasSubscribers { await Task.yield() }
    subject.send(7)
    #expect(await progress.next() == 7)

    reader.cancel()
    await reader.value

    #expect(!subject.hasSubscribers)
  }
}

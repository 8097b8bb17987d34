import CloudSyncGRDB
import CloudSyncSQLite
import CloudSyncSession
import CloudSyncSimulator
import GRDB
import Synchronization
import Testing

@testable import shopping

@Suite("Observation of what the engine writes", .timeLimit(.minutes(1)))
struct ObservationTests {
  @Test("A ValueObservation gives what came from the cloud", arguments: WriterKind.allCases)
  func values(kind: WriterKind) async throws {
    let bench = try ShoppingHarness()
    let (phone, laptop) = (try bench.device("phone", .queue), try bench.device("laptop", kind))
    try bench.sync(phone, laptop)
    let observation = ValueObservation.tracking {
      try Item.select(\.title, as: String.self).fetchAll($0)
    }
    var values = observation.values(in: laptop.writer).makeAsyncIterator()
    #expect(try await values.next() == [])

    try phone.insert("Bread")
    try bench.sync(phone, laptop)

    // A value may come twice: the observation also looks when it has begun.
    var value: [String]? = []
    while value == [] { value = try await values.next() }
    #expect(value == ["Bread"])
  }

  @Test("The status of a record can be observed, from the edit to the cloud's response")
  func status() async throws {
    let bench = try ShoppingHarness()
    let phone = try bench.device("phone", .pool)
    try bench.sync(phone)
    let observation = ValueObservation.tracking { db in
      try String.fetchAll(db, sql: "SELECT status FROM cloudsync_status WHERE table_name = 'item'")
    }
    var values = observation.values(in: phone.writer).makeAsyncIterator()
    #expect(try await values.next() == [])

    try phone.insert("Bread")
    bench.settle()

    var value: [String]? = []
    while value != ["clean"], value != nil { value = try await values.next() }
    #expect(value == ["clean"])
  }

  @Test("A transaction observer hears of each page once, and never of the engine's own affairs")
  func regions() throws {
    let bench = try ShoppingHarness()
    let (phone, laptop) = (try bench.device("phone", .queue), try bench.device("laptop", .pool))
    try bench.sync(phone, laptop)
    let counter = Counter()
    let items = DatabaseRegionObservation(tracking: Item.all())
      .start(in: laptop.writer, onError: { Issue.record($0) }) { _ in counter.add() }
    defer { items.cancel() }

    try phone.insert("Bread", "Milk")
    try bench.sync(phone, laptop)
    #expect(counter.value == 1)

    try phone.writer.write { _ = try ShoppingList(title: "Breakfast").insertAndFetch($0) }
    try bench.sync(phone, laptop)
    #expect(counter.value == 1)
  }

  @Test("GRDB alone does not see what is written with the raw handle: it has to be told")
  func rawWrites() throws {
    let bench = try ShoppingHarness()
    let phone = try bench.device("phone", .queue)
    let observer = Observer()
    phone.writer.add(transactionObserver: observer)
    let sql = "INSERT INTO item(id, title) VALUES('1', 'Bread')"

    try phone.writer.writeWithoutTransaction { db in
      let handle = try #require(db.sqliteConnection)
      try DatabaseFile.execute(sql, on: handle)
    }
    #expect(observer.take() == ["will commit"])

    try GRDBDatabase(writer: phone.writer)
      .write { handle in
        try DatabaseFile.execute("UPDATE item SET title = 'Jam'", on: handle)
      }
    #expect(observer.take() == ["will commit", "did change", "will commit", "did commit"])
  }

  @Test("An observer that forbids a commit undoes the engine's transaction, and the engine says so")
  func forbids() throws {
    let bench = try ShoppingHarness()
    let (phone, laptop) = (try bench.device("phone", .queue), try bench.device("laptop", .queue))
    try bench.sync(phone, laptop)
    let observer = Observer()
    laptop.writer.add(transactionObserver: observer)
    observer.isForbidding = true
    try phone.insert("Bread")
    bench.settle()

    laptop.engine.fetchChanges()
    bench.settle()

    #expect(bench.failures().count == 1)
    #expect(!laptop.engine.isRunning)
    #expect(try laptop.titles() == [])

    observer.isForbidding = false
    try bench.sync(laptop)
    #expect(try laptop.titles() == ["Bread"])
  }
}

/// Counts calls from any thread.
private final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add() { count.withLock { $0 += 1 } }
}

/// Notes what GRDB tells.
private final class Observer: TransactionObserver {
  struct Forbidden: Error {}

  var isForbidding = false
  private var calls: [String] = []

  func take() -> [String] {
    defer { calls = [] }
    return calls
  }

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "item" }
  func databaseDidChange() { calls.append("did change") }
  func databaseDidChange(with event: DatabaseEvent) { calls.append("did change a row") }
  func databaseWillCommit() throws {
    calls.append("will commit")
    if isForbidding { throw Forbidden() }
  }
  func databaseDidCommit(_ db: Database) { calls.append("did commit") }
  func databaseDidRollback(_ db: Database) { calls.append("did roll back") }
}

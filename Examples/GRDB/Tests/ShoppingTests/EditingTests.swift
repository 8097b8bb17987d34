import CloudSyncSQLite
import CloudSyncSession
import CloudSyncSimulator
import GRDB
import Testing

@testable import shopping

@Suite("Edits with GRDB")
struct EditingTests {
  @Test(
    "Records that are written on either side arrive on the other, whatever the connections are",
    arguments: WriterKind.allCases,
    WriterKind.allCases
  )
  func travel(from one: WriterKind, to other: WriterKind) throws {
    let bench = try ShoppingHarness()
    let (phone, laptop) = (try bench.device("phone", one), try bench.device("laptop", other))
    try phone.writer.write { db in
      let list = try ShoppingList(title: "Breakfast").insertAndFetch(db)
      try Item(listID: list.id, title: "Bread").insert(db)
      try Item(listID: list.id, title: "Milk", amount: 2).insert(db)
    }
    try bench.sync(phone, laptop)
    try laptop.writer.write { db in
      try Item.filter { $0.title == "Milk" }.updateAll(db) { $0.isDone.set(to: true) }
      try Item.filter { $0.title == "Bread" }.deleteAll(db)
    }
    try phone.writer.write { db in
      _ = try Item.filter { $0.title == "Milk" }.updateAll(db) { $0.title.set(to: "Oat milk") }
    }
    try bench.sync(phone, laptop)

    #expect(try phone.lines() == ["Breakfast", "  [x] 2 Oat milk"])
    #expect(try laptop.lines() == phone.lines())
  }

  @Test("A committed edit is sent without anybody asking for it", arguments: WriterKind.allCases)
  func follows(kind: WriterKind) throws {
    let bench = try ShoppingHarness()
    let phone = try bench.device("phone", kind)
    try bench.sync(phone)

    try phone.insert("Bread", "Milk")
    bench.settle()

    #expect(try bench.recordCount() == 2)
  }

  @Test("A transaction that is rolled back sends nothing, nor does a savepoint")
  func rollsBack() throws {
    struct Regret: Error {}
    let bench = try ShoppingHarness()
    let phone = try bench.device("phone", .pool)
    try bench.sync(phone)

    #expect(throws: Regret.self) {
      try phone.writer.write { db in
        try Item(title: "Bread").insert(db)
        throw Regret()
      }
    }
    try phone.writer.write { db in
      try db.inSavepoint {
        try Item(title: "Milk").insert(db)
        return .rollback
      }
    }
    try bench.sync(phone)

    #expect(phone.engine.session?.state.progress.done == 0)
    #expect(try bench.recordCount() == 0)

    try phone.insert("Jam")
    bench.settle()

    #expect(phone.engine.session?.state.progress.done == 1)
  }

  @Test("Foreign keys are enforced, and what cascades here is gone there")
  func cascades() throws {
    let bench = try ShoppingHarness()
    let (phone, laptop) = (try bench.device("phone", .queue), try bench.device("laptop", .pool))
    let list = try phone.writer.write { try ShoppingList(title: "Breakfast").insertAndFetch($0) }
    try phone.insert("Bread", "Milk", into: list.id)
    try phone.insert("Candles")
    try bench.sync(phone, laptop)

    #expect(throws: DatabaseError.self) { try laptop.insert("Nail", into: "no such list") }
    _ = try laptop.writer.write { try ShoppingList.deleteAll($0) }
    try bench.sync(laptop, phone)

    #expect(try phone.titles() == ["Candles"])
    #expect(try laptop.titles() == ["Candles"])
  }

  @Test("Keys come from the app's uuid(), with an engine and without")
  func keys() throws {
    let bench = try ShoppingHarness()
    let phone = try bench.device("phone", .queue)
    try phone.insert("Bread")
    try bench.sync(phone)
    try phone.insert("Milk")

    let keys = try phone.writer.read { try String.fetchAll($0, sql: "SELECT id FROM item") }
    #expect(keys.sorted() == ["phone-1", "phone-2"])
  }

  @Test("What another connection to the file writes is sent when the engine looks next")
  func secondConnection() throws {
    let bench = try ShoppingHarness()
    let phone = try bench.device("phone", .queue)
    try bench.sync(phone)
    let widget = try DatabaseQueue(
      path: bench.path("phone"),
      configuration: ShoppingHarness.configuration("widget")
    )

    try widget.write { try Item(title: "Bread").insert($0) }
    bench.settle()
    #expect(try bench.recordCount() == 0)
    try bench.sync(phone)

    #expect(try bench.recordCount() == 1)
  }

  @Test("syncChanges() returns when everything is there, with real threads")
  func awaits() async throws {
    let bench = try ShoppingHarness()
    let phone = try Device(
      "phone",
      try bench.writer("phone", .queue),
      cloud: bench.handler("phone")
    ) { Issue.record($0) }
    let laptop = try Device(
      "laptop",
      try bench.writer("laptop", .pool),
      cloud: bench.handler("laptop")
    ) { Issue.record($0) }
    try phone.engine.start()
    try laptop.engine.start()
    try await phone.writer.write { try Item(title: "Bread").insert($0) }
    try await laptop.writer.write { try Item(title: "Milk").insert($0) }

    for device in [phone, laptop, phone] { await device.engine.syncChanges() }

    #expect(try phone.titles() == ["Bread", "Milk"])
    #expect(try laptop.titles() == ["Bread", "Milk"])
    for device in [phone, laptop] {
      device.engine.stop()
      try device.writer.close()
    }
  }
}

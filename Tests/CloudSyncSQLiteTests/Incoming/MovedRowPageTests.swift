import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

/// What the guide says of a fetch of several pages.
@Suite("A row with another key, of which several pages tell")
struct MovedRowPageTests {
  @Test("It may be in no table between two pages, and has all its columns when the fetch is done")
  func betweenPages() throws {
    let bench = SyncHarness()
    let pages = Locked(Int.max)
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
    let phone = try bench.device("phone", schema, tables: ["notes"])
    bench.handler = { LimitedHandler($0, pages: pages) }
    let mac = try bench.device("mac", schema, tables: ["notes"])
    try phone.execute("INSERT INTO notes VALUES('a', 'A', 5)")
    try bench.sync(phone, mac)
    mac.engine.stop()
    try phone.execute("UPDATE notes SET id = 'b'")
    try bench.sync(phone)
    // The new record goes to the end of what the cloud tells.
    try phone.execute("UPDATE notes SET title = 'B'")
    try bench.sync(phone)
    bench.cloud.options.pageSize = 1
    pages.withLock { $0 = 1 }
    try mac.engine.start()
    bench.world.advance(by: .seconds(5))
    #expect(try mac.lines("SELECT id FROM notes") == [])

    pages.withLock { $0 = .max }
    bench.world.advance(by: .seconds(1_200))
    try bench.sync(mac, phone)
    #expect(try mac.lines("SELECT * FROM notes") == ["'b'|'B'|5"])
    #expect(try phone.lines("SELECT * FROM notes") == ["'b'|'B'|5"])
    #expect(try bench.unclean(mac) == [])
  }

  /// What a dropped column had goes along with the row: it keeps nothing under the former key.
  @Test(
    "A row whose column was dropped here leaves its former key with the first page that tells of the new one",
    arguments: [false, true]
  )
  func droppedColumn(isEdited: Bool) throws {
    let bench = SyncHarness()
    let pages = Locked(Int.max)
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"
    var options = SyncEngineOptions()
    options.defaultTable.merging.deletes = .editWins
    let phone = try bench.device("phone", schema, tables: ["notes"], options: options)
    bench.handler = { LimitedHandler($0, pages: pages) }
    let mac = try bench.device("mac", schema, tables: ["notes"], options: options)
    try phone.execute("INSERT INTO notes VALUES('a', 'A', 5)")
    try bench.sync(phone, mac)
    mac.engine.stop()
    try phone.execute("UPDATE notes SET id = 'b'")
    try bench.sync(phone)
    if isEdited { try mac.execute("UPDATE notes SET title = 'A2'") }
    try SyncEngine.withoutCapture(in: mac.database) {
      try mac.database.execute("ALTER TABLE notes DROP COLUMN stars")
    }
    bench.cloud.options.pageSize = 1
    pages.withLock { $0 = 4 }
    try bench.restart(mac, ["notes"], options)
    try mac.engine.start()
    bench.world.advance(by: .seconds(5))
    #expect(try mac.lines("SELECT id FROM notes") == ["'b'"])

    pages.withLock { $0 = .max }
    bench.world.advance(by: .seconds(1_200))
    try bench.sync(mac, phone, mac)
    let title = isEdited ? "A2" : "A"
    #expect(try mac.lines("SELECT * FROM notes") == ["'b'|'\(title)'"])
    #expect(try phone.lines("SELECT * FROM notes") == ["'b'|'\(title)'|5"])
    for device in [mac, phone] { #expect(try bench.unclean(device) == []) }
  }
}

/// Loses the network after some pages.
private final class LimitedHandler: WorkHandler {
  private let handler: any OperationHandler
  private let pages: Locked<Int>

  init(_ handler: any OperationHandler, pages: Locked<Int>) {
    self.handler = handler
    self.pages = pages
  }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if case .fetch = work {
      let isLeft = pages.withLock { pages in
        defer { pages = max(0, pages - 1) }
        return pages > 0
      }
      if !isLeft { return completion(.failure(SyncError(.networkFailure))) }
    }
    handler.perform(work, context: context, completion: completion)
  }
}

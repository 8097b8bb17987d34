import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("A row whose key was changed, and whose new record the cloud refuses")
struct RefusedSuccessorTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL,
      list TEXT REFERENCES lists(id) ON DELETE CASCADE ON UPDATE CASCADE);
    """
  private static let tables = ["lists", "notes"]

  /// In between another device would take the children that it has added for orphans.
  @Test(
    "Nobody hears that it is gone from its old key before it is under the new one",
    arguments: [.deleteChildren, .restoreParent] as [OrphanPolicy]
  )
  func orphans(orphans: OrphanPolicy) throws {
    let bench = SyncHarness()
    var options = SyncEngineOptions()
    options.defaultTable.orphans = orphans
    let refused = Locked(true)
    bench.handler = { RefusingHandler(name: "k:lists", isRefusing: refused, handler: $0) }
    let mac = try bench.device("mac", Self.schema, tables: Self.tables, options: options)
    bench.handler = { $0 }
    let phone = try bench.device("phone", Self.schema, tables: Self.tables, options: options)
    try mac.execute("INSERT INTO lists VALUES('a', 'A'); INSERT INTO notes VALUES('n', 'a')")
    try bench.sync(mac, phone)
    try phone.execute("INSERT INTO notes VALUES('m', 'a')")
    try mac.execute("UPDATE lists SET id = 'k'")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT id FROM lists") == ["'a'"])
    refused.withLock { $0 = false }
    try mac.engine.retryParked()
    try bench.sync(mac, phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM lists") == ["'k'|'A'"], "\(device.name)")
      #expect(try device.lines("SELECT * FROM notes ORDER BY id") == ["'m'|'k'", "'n'|'k'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test(
    "Two rows swap their keys, and their records come one after the other",
    arguments: ["a", "b"]
  )
  func swap(last: String) throws {
    let schema = "CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT, place TEXT)"
    let bench = SyncHarness()
    let refused = Locked(true)
    bench.handler = { RefusingHandler(name: "\(last):lists", isRefusing: refused, handler: $0) }
    refused.withLock { $0 = false }
    let mac = try bench.device("mac", schema, tables: ["lists"])
    bench.handler = { $0 }
    let phone = try bench.device("phone", schema, tables: ["lists"])
    try mac.execute("INSERT INTO lists VALUES('a', 'A', '1'), ('b', 'B', '2')", at: 1_000)
    try bench.sync(mac, phone)
    refused.withLock { $0 = true }
    try mac.execute(
      """
      BEGIN; UPDATE lists SET id = 'none' WHERE id = 'a'; UPDATE lists SET id = 'a' WHERE id = 'b';
      UPDATE lists SET id = 'b' WHERE id = 'none'; COMMIT
      """,
      at: 2_000
    )
    try phone.execute("UPDATE lists SET title = title || '2'", at: 3_000)
    try bench.sync(mac, phone)
    refused.withLock { $0 = false }
    try mac.engine.retryParked()
    try bench.sync(mac, phone, mac)

    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT * FROM lists ORDER BY id") == ["'a'|'B2'|'2'", "'b'|'A2'|'1'"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [])
    }
  }
}

/// Says of each request with a record of a name that the account's storage has no room for it.
private struct RefusingHandler: WorkHandler {
  let name: String
  let isRefusing: Locked<Bool>
  let handler: any OperationHandler

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    guard case .modify(let operation) = work, isRefusing.withLock({ $0 }),
      operation.records.contains(where: { $0.recordID.name == name })
    else { return handler.perform(work, context: context, completion: completion) }
    let failures = operation.records.map { record in
      let isRefused = record.recordID.name == name
      return ItemFailure(
        record.recordID,
        SyncError(isRefused ? .invalidArguments : .batchRequestFailed)
      )
    }
    completion(.success(.modify(ModifyOperation.Response(failures: failures))))
  }
}

import CloudSyncLocalCloud
import CloudSyncSession
import CloudSyncSQLite
import Dispatch
import Foundation

/// Edits on one device until they are stored on the other, with real threads and no faults.
enum LatencyBenchmarks {
  /// The nanoseconds of the edit in the middle.
  static func run(_ count: Int) throws -> Double {
    let cloud = LocalCloud()
    let account = AccountIdentity("somebody")
    func device(_ name: String) throws -> (PlainDatabase, LocalCloudConnection, SyncEngine) {
      let connection = cloud.connect(
        device: name,
        account: account,
        zoneID: EngineBenchmarks.zoneID
      )
      let database = try PlainDatabase()
      let engine = try SyncEngine(
        database: database.file,
        tables: ["notes"],
        zoneID: EngineBenchmarks.zoneID,
        operationHandler: connection
      )
      return (database, connection, engine)
    }
    let (source, _, sender) = try device("first")
    let (target, connection, receiver) = try device("second")
    let hasFetched = DispatchSemaphore(value: 0)
    connection.onPush { _ in receiver.fetchChanges() }
    receiver.activity.sink { if !$0.isFetching { hasFetched.signal() } }
    try sender.start()
    try receiver.start()
    Thread.sleep(forTimeInterval: 0.5)
    var times: [Double] = []
    for number in 0..<count {
      let key = PlainDatabase.key(number)
      let clock = ContinuousClock()
      let start = clock.now
      try source.insert([key])
      sender.sendChanges()
      while try target.count("SELECT count(*) FROM notes WHERE id = '\(key)'") == 0 {
        _ = hasFetched.wait(timeout: .now() + .milliseconds(200))
      }
      times.append((clock.now - start).nanoseconds)
    }
    sender.stop()
    receiver.stop()
    return times.sorted()[count / 2]
  }

  /// How many requests follow on updates that change nothing, a BLOB among them.
  static func requestsOfNothing() throws -> Int {
    let database = try PlainDatabase()
    try database.file.execute("ALTER TABLE notes ADD COLUMN picture BLOB")
    try database.insert((0..<100).map { PlainDatabase.key($0) })
    try database.file.execute("UPDATE notes SET picture = zeroblob(10000)")
    let handler = BenchmarkHandler(answersAtOnce: true)
    let bench = try EngineBenchmarks(database, handler)
    try bench.engine.start()
    try bench.run()
    let before = handler.requests
    try database.file.execute(
      "UPDATE notes SET title = title, picture = zeroblob(10000), id = id, count = count"
    )
    bench.engine.sendChanges()
    try bench.run()
    return handler.requests - before
  }
}

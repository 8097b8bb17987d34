import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLocalCloud
import CloudSyncLoopback
import CloudSyncSQLite
import CloudSyncService
import CloudSyncSimulator
import CloudSyncWebServices
import Dispatch

/// `cloudsync demo --server`: two databases, a server on this machine between them, and a bad network.
struct ServerDemo {
  /// A device: a database, and an engine under it.
  private struct Device {
    let name: String
    let database: DatabaseFile
    let engine: SyncEngine
    let listener: DemoListener
  }

  private static let account = AccountIdentity("somebody")
  private static let rounds = 8
  private static let patience = Duration.seconds(300)

  private let folder: DemoFolder
  private let cloud: LocalCloud
  private let network: DemoFaults
  private let server: LoopbackServer
  private let devices: [Device]
  private let seed: UInt64
  private let isVerbose: Bool
  private let feed: DemoFeed

  init(in folder: DemoFolder, seed: UInt64, isVerbose: Bool) throws {
    self.folder = folder
    self.seed = seed
    self.isVerbose = isVerbose
    let feed = DemoFeed()
    self.feed = feed
    let cloud = LocalCloud(store: try SQLiteStore(path: folder.file(named: "cloud.sqlite")))
    let tokens = MemoryTokens()
    let service = CloudService(cloud: cloud, tokens: tokens)
    let network = DemoFaults(service, seed: seed)
    guard let server = try? LoopbackServer(responder: { network.respond(to: $0, completion: $1) })
    else { throw ToolError.failure("no server can be started on 127.0.0.1") }
    self.cloud = cloud
    self.network = network
    self.server = server
    let transport = URLSessionTransport()
    let begin = SyncEnvironment.live.now()
    devices = try ["laptop", "phone"]
      .map { name in
        let token = "\(SyncEnvironment.live.nonce())-\(SyncEnvironment.live.nonce())"
        tokens.add(token: token, access: ServiceAccess(account: Self.account, device: name))
        let client = WebServicesClient(
          address: try WebServicesAddress(server.origin),
          authorization: .bearer(Secret(token)),
          transport: transport
        )
        let listener = DemoListener(name, folder) { words in
          let elapsed = SyncEnvironment.live.now().nanoseconds - begin.nanoseconds
          feed.tell(of: name, words, at: .nanoseconds(elapsed))
        }
        return try Self.device(named: name, client: client, listener: listener, in: folder)
      }
  }

  private static func device(
    named name: String,
    client: WebServicesClient,
    listener: DemoListener,
    in folder: DemoFolder
  ) throws -> Device {
    let path = folder.file(named: "\(name).sqlite")
    let database = try DatabaseFile(path: path, createsFile: true)
    try database.execute(DemoRows.schema)
    var options = SyncEngineOptions()
    options.configuration.firstWait = .milliseconds(10)
    options.configuration.longestWait = .milliseconds(200)
    options.accountProvider = client.accountStatus
    options.sessionWillStart = { listener.attach(to: $0) }
    let engine = try SyncEngine(
      database: database,
      tables: DemoRows.tables,
      zoneID: DemoRows.zoneID,
      operationHandler: WebServicesOperationHandler(client: client, zoneID: DemoRows.zoneID),
      options: options
    )
    return Device(name: name, database: database, engine: engine, listener: listener)
  }

  func run(isJSON: Bool, console: Console) throws {
    let narration = isJSON ? console.quiet : console
    narration.line("Two databases sync through a server on this machine, at \(server.origin).")
    narration.line(
      "Both are edited in \(Self.rounds) rounds, while requests and responses are lost."
    )
    var random = SeededRandom(seed: seed)
    var chapters: [DemoChapter] = []
    for device in devices { try device.engine.start() }
    for round in 1...Self.rounds {
      for device in devices {
        for _ in 0..<10 { try device.database.execute(Self.edit(&random)) }
      }
      try synchronize()
      chapters.append(tell(chapter: "round \(round)", console: narration))
      narration.line("  round \(round): \(network.words)")
    }
    network.end()
    // What one sends last, the other has to fetch.
    for _ in 0..<2 { try synchronize() }
    chapters.append(tell(chapter: "the last round, in which nothing is lost", console: narration))
    for device in devices { device.engine.stop() }
    let columns = try self.columns()
    let isEqual =
      columns.allSatisfy { $0 == columns[0] } && columns[0].count(of: "notes") > 0
    let tallies = try devices.map { device in
      device.listener.end()
      return try DemoTally(device.name, of: device.listener)
    }
    try DemoPage(chapters: chapters, tallies: tallies).write(toFile: page)
    show(columns: columns, isEqual: isEqual, console: narration)
    if isJSON {
      let report = report(columns: columns, isEqual: isEqual, tallies: tallies)
      console.line(try JSONText.block(for: report))
    }
    if isEqual { return }
    console.note("error: they differ after all; the files are in \(folder.path)")
    throw ToolError.negative
  }

  /// The page about all of it.
  private var page: String { folder.file(named: "report.html") }

  /// What has happened since the last chapter; shown, if every request is to be told.
  private func tell(chapter: String, console: Console) -> DemoChapter {
    let lines = feed.take()
    if isVerbose { for line in lines { console.line(line.styled(for: console)) } }
    return DemoChapter(title: chapter, lines: lines)
  }

  private func synchronize() throws {
    for device in devices {
      let outcome = Locked<SyncOutcome?>(nil)
      let done = DispatchSemaphore(value: 0)
      device.engine.syncChanges(upTo: Self.patience) { new in
        outcome.withLock { $0 = new }
        done.signal()
      }
      done.wait()
      let reason = outcome.withLock { $0 }
      guard let reason, reason.isDone else {
        let words = reason.map { ": \($0)" } ?? ""
        throw ToolError.failure("the \(device.name) could not be synchronized\(words)")
      }
    }
  }

  /// A random edit, as an app makes them.
  private static func edit(_ random: inout SeededRandom) -> String {
    let (note, list) = ("n\(random.below(20))", "l\(random.below(3))")
    return switch random.below(6) {
    case 0: "INSERT OR IGNORE INTO lists VALUES('\(list)', 'List \(random.below(100))')"
    case 1: "DELETE FROM notes WHERE id = '\(note)'"
    case 2: "UPDATE notes SET done = NOT done WHERE id = '\(note)'"
    case 3: "UPDATE notes SET text = 'Text \(random.below(1_000))' WHERE id = '\(note)'"
    default: "INSERT OR IGNORE INTO notes(id, text) VALUES('\(note)', 'New \(random.below(1_000))')"
    }
  }

  /// The rows of the devices and of the server.
  private func columns() throws -> [DemoRows] {
    let records = try cloud.records(account: Self.account, zone: DemoRows.zoneID)
    return try devices.map { try DemoRows($0.database) } + [try DemoRows(records)]
  }

  private func show(columns: [DemoRows], isEqual: Bool, console: Console) {
    for table in DemoRows.tables {
      let counts = columns.map { "\($0.count(of: table))" }.joined(separator: ", ")
      console.line("\(table): \(counts) rows on laptop, phone and server")
    }
    if !isEqual { return }
    console.line(console.styled("All three are equal.", as: .good))
    console.line("The files are in \(folder.path)")
    console.line("Open the report in a browser: \(page)")
  }

  /// The result for scripts.
  private struct Report: Encodable {
    var seed: UInt64
    var folder: String
    var rounds: Int
    var isEqual: Bool
    /// How many rows the laptop has, by table.
    var rows: [String: Int]
    var network: DemoFaults.Counts
    var devices: [DemoTally]
    /// The page about all of it.
    var report: String
  }

  private func report(columns: [DemoRows], isEqual: Bool, tallies: [DemoTally]) -> Report {
    Report(
      seed: seed,
      folder: folder.path,
      rounds: Self.rounds,
      isEqual: isEqual,
      rows: Dictionary(
        uniqueKeysWithValues: DemoRows.tables.map { ($0, columns[0].count(of: $0)) }
      ),
      network: network.counts,
      devices: tallies,
      report: page
    )
  }
}

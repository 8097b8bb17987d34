import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator

/// Two devices, a cloud in a file, and a bad week.
final class DemoStory {
  /// What the edits of the story come to.
  static let rowsInTheEnd = ["lists": 1, "notes": 3]

  let world = SimulatedEnvironment()
  let cloud: LocalCloud
  let devices: [DemoDevice]
  let seed: UInt64
  private let feed = DemoFeed()
  private var view: DemoView

  /// Prepares the story.
  ///
  /// - Parameters:
  ///   - folder: Where its files go.
  ///   - seed: What the accidents beside the story are drawn from.
  ///   - plan: Which these are.
  ///   - isVerbose: Whether every request is told.
  ///   - console: Where it is told.
  /// - Throws: That the files cannot be made.
  init(
    in folder: DemoFolder,
    seed: UInt64,
    plan: FaultPlan,
    isVerbose: Bool,
    _ console: Console
  ) throws {
    self.seed = seed
    view = DemoView(feed, isVerbose: isVerbose, console: console)
    let world = world
    let feed = feed
    // Tokens and tags hold them: the same seed leaves the same logs.
    let nonces = Locked(SeededRandom(seed: seed).fork(100))
    let cloud = LocalCloud(
      store: try SQLiteStore(path: folder.file(named: "cloud.sqlite")),
      now: { world.now },
      nonce: { nonces.withLock { $0.next() } }
    )
    self.cloud = cloud
    devices = try ["laptop", "phone"].enumerated()
      .map { number, name in
        var random = SeededRandom(seed: seed).fork(UInt64(number))
        return try DemoDevice(
          name,
          cloud: cloud,
          in: world,
          faults: (random.next(), plan),
          folder: folder,
          tell: { words in feed.tell(of: name, words, at: world.elapsed) }
        )
      }
  }

  /// What was told so far.
  var chapters: [DemoChapter] { view.chapters }

  private var laptop: DemoDevice { devices[0] }
  private var phone: DemoDevice { devices[1] }

  /// Tells it from the beginning to the end.
  func tell() throws {
    try chapter("The laptop adds notes, and both devices get them") {
      for device in devices { try device.start() }
      try laptop.edit(
        "makes a list with three notes",
        sql: """
          INSERT INTO lists VALUES('home', 'At home');
          INSERT INTO notes(id, list, text) VALUES
            ('milk', 'home', 'Buy milk'), ('bank', NULL, 'Call the bank'),
            ('plants', 'home', 'Water the plants');
          """
      )
      phone.engine.fetchChanges()
    }
    try chapter("Offline, both edit the same notes") {
      for device in devices { device.goOffline() }
      try laptop.edit(
        "changes the text of milk",
        sql: "UPDATE notes SET text = 'Buy milk and eggs' WHERE id = 'milk'"
      )
      try laptop.edit("deletes bank", sql: "DELETE FROM notes WHERE id = 'bank'")
      try phone.edit("ticks milk off", sql: "UPDATE notes SET done = 1 WHERE id = 'milk'")
      try phone.edit(
        "adds bike",
        sql: "INSERT INTO notes(id, text) VALUES('bike', 'Fix the bicycle')"
      )
    }
    try chapter("Online again: rate limiting, a lost response, a conflict") {
      laptop.network.expect(.throttle(.seconds(3)))
      phone.network.expect(.responseLost)
      laptop.goOnline()
      phone.goOnline()
    }
    try chapter("Somebody deletes the whole zone, and the phone has an edit for it") {
      try cloud.deleteZone(DemoRows.zoneID, account: AccountIdentity("somebody"))
      feed.tell(
        of: "cloud",
        DemoWords(text: "has lost the zone with all rows"),
        at: world.elapsed
      )
      try phone.edit(
        "changes plants",
        sql: "UPDATE notes SET text = 'Water the plants twice' WHERE id = 'plants'"
      )
      laptop.engine.fetchChanges()
    }
    try chapter("The network is good at last: both sync once more") {
      for device in devices { try device.endFaults() }
    }
    // Pushes are gone with the zone: what one sends last, the other has to look for.
    for _ in 0..<2 {
      if try board().isEqual { break }
      for device in devices { device.engine.fetchChanges() }
      try passTime()
    }
    for device in devices { try device.end() }
    world.run()
    view.wipe()
  }

  /// A piece of the story; it ends when all is quiet.
  private func chapter(_ title: String, body: () throws -> Void) throws {
    view.begin(title)
    try body()
    try passTime()
  }

  private func passTime() throws {
    let end = world.elapsed + .seconds(900)
    while world.elapsed < end {
      world.advance(by: .milliseconds(200))
      view.refresh(with: try board())
      if let problem = devices.compactMap(\.problem).first { throw ToolError.failure(problem) }
      if isQuiet { break }
    }
  }

  /// Whether nobody has anything to do, or can do anything.
  private var isQuiet: Bool {
    let isDone = devices.allSatisfy { !$0.isBusy }
    let isOffline = devices.contains { !$0.network.isOnline }
    return isDone
      || (isOffline
        && devices.allSatisfy { $0.engine.session?.explain().operationMode == nil })
  }

  /// What both devices and the cloud have, side by side.
  func board() throws -> DemoBoard {
    let records = try cloud.records(account: AccountIdentity("somebody"), zone: DemoRows.zoneID)
    var columns = try devices.map { device in
      DemoBoard.Column(
        name: device.name + (device.network.isOnline ? "" : " (offline)"),
        rows: try device.rows(),
        foot: device.engine.session.map { "\($0.explain())" } ?? "stopped"
      )
    }
    columns.append(DemoBoard.Column(name: "cloud", rows: try DemoRows(records), foot: ""))
    return DemoBoard(columns: columns)
  }
}

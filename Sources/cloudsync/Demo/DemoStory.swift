import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSimulator

/// Two devices, a cloud in a file, and a bad week.
final class DemoStory {
  let world = SimulatedEnvironment()
  let cloud: LocalCloud
  let devices: [DemoDevice]
  let seed: UInt64
  private let feed = DemoFeed()
  private var view: DemoView

  init(in folder: DemoFolder, seed: UInt64, plan: FaultPlan, _ console: Console) throws {
    self.seed = seed
    view = DemoView(feed, console)
    let world = world
    let feed = feed
    let cloud = LocalCloud(
      store: try SQLiteStore(path: folder.file("cloud.sqlite")),
      now: { world.now }
    )
    self.cloud = cloud
    devices = ["laptop", "phone"].enumerated()
      .map { number, name in
        var random = SeededRandom(seed: seed).fork(UInt64(number))
        return DemoDevice(
          name,
          cloud,
          in: world,
          faults: (random.next(), plan),
          folder,
          tell: { words in feed.tell(name, words, at: world.elapsed) }
        )
      }
  }

  private var laptop: DemoDevice { devices[0] }
  private var phone: DemoDevice { devices[1] }

  /// Tells it from the beginning to the end.
  func tell() throws {
    try chapter("The laptop writes notes, and both devices get them") {
      for device in devices { device.session.start() }
      try laptop.write("milk", "Buy milk")
      try laptop.write("bank", "Call the bank")
      try laptop.write("plants", "Water the plants")
      phone.fetch()
    }
    try chapter("Offline, both edit the same notes") {
      for device in devices { device.goOffline() }
      try laptop.write("milk", "Buy milk and eggs")
      try laptop.delete("bank")
      try phone.write("milk", "Buy oat milk")
      try phone.write("bike", "Mend the bicycle")
    }
    try chapter("Online again: a throttle, a lost answer, a conflict") {
      laptop.network.expect(.throttle(.seconds(3)))
      phone.network.expect(.answerLost)
      laptop.goOnline()
      phone.goOnline()
    }
    try chapter("Somebody deletes the whole zone, and the phone has an edit for it") {
      try cloud.deleteZone(DemoNotes.zoneID, account: AccountIdentity("somebody"))
      feed.tell("cloud", "has lost the zone with all notes", at: world.elapsed)
      try phone.write("plants", "Water the plants twice")
      laptop.fetch()
    }
    try chapter("The network is good at last, and both look once more") {
      for device in devices { device.mend() }
    }
    // Pushes are gone with the zone: what one sends last, the other has to look for.
    for _ in 0..<2 {
      if try board().isEqual { break }
      for device in devices { device.fetch() }
      try passTime()
    }
    for device in devices { device.endRecording() }
    world.run()
    view.wipe()
  }

  /// A piece of the story; it ends when all is quiet.
  private func chapter(_ title: String, _ body: () throws -> Void) throws {
    view.begin(title)
    try body()
    try passTime()
  }

  private func passTime() throws {
    let end = world.elapsed + .seconds(900)
    while world.elapsed < end {
      world.advance(by: .milliseconds(200))
      view.refresh(try board())
      if let problem = devices.compactMap(\.problem).first { throw ToolError.failure(problem) }
      if isQuiet { break }
    }
  }

  /// Whether nobody has anything to do, or can do anything.
  private var isQuiet: Bool {
    let isDone = devices.allSatisfy { !$0.session.state.hasWorkQueued }
    let isOffline = devices.contains { !$0.network.isOnline }
    return isDone || (isOffline && devices.allSatisfy { $0.session.explain().operationMode == nil })
  }

  /// The notes of both devices and of the cloud, side by side.
  func board() throws -> DemoBoard {
    let account = AccountIdentity("somebody")
    let records = try cloud.records(account: account, zone: DemoNotes.zoneID)
    var stored: [String: String] = [:]
    for record in records { stored[record.recordID.name] = record["text"]?.stringValue }
    var columns = devices.map { device in
      DemoBoard.Column(
        name: device.name + (device.network.isOnline ? "" : " (offline)"),
        texts: device.texts,
        foot: "\(device.session.explain())"
      )
    }
    columns.append(DemoBoard.Column(name: "cloud", texts: stored, foot: ""))
    return DemoBoard(columns: columns)
  }
}

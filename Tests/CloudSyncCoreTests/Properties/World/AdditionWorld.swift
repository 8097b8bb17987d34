import CloudSyncCore
import CloudSyncSimulator
import CloudSyncTestSupport
import CloudSyncVirtualTime
import Foundation
import Testing

/// Two devices that add to the counters and the sets of three records, over a cloud that remembers write tokens.
///
/// Every addition is a bit of its own, so that the sum says which one is missing and which was made twice. An addition
/// tells what it was made of: what is stored, with what is not sent.
final class AdditionWorld {
  /// What goes wrong.
  struct Troubles: Sendable, CustomTestStringConvertible {
    var hasFaults: Bool
    var hasCrashes: Bool
    /// Whether a record is edited while an edit of it is not sent.
    var editsUnsent: Bool

    static let all = (0..<8)
      .map {
        Troubles(hasFaults: $0 & 1 != 0, hasCrashes: $0 & 2 != 0, editsUnsent: $0 & 4 != 0)
      }

    var testDescription: String {
      "faults \(hasFaults), crashes \(hasCrashes), second edits \(editsUnsent)"
    }
  }

  private static let policies: [String: FieldPolicy] = ["n": .counterSum, "s": .setUnion]
  private static let names = (0..<3).map { "r\($0)" }

  private let world = VirtualEnvironment(jobLimit: 2_000_000)
  private let cloud: StubCloud
  private let troubles: Troubles
  private let isQuiet: Locked<Bool>
  private var random: SplitMix64
  private var devices: [AdditionDevice] = []
  private var bit = 0

  init(seed: UInt64, troubles: Troubles) {
    self.troubles = troubles
    var random = SplitMix64(seed: seed)
    var options = StubCloud.Options()
    options.isAtomic = random.below(2) == 0
    options.failsAsError = random.below(2) == 0
    options.pageSize = 1 + random.below(5)
    options.tellsConflictingRecords = random.below(2) == 0
    options.limits = RequestLimits(items: [1, 2, 3, 400][random.below(4)])
    let isQuiet = Locked(!troubles.hasFaults)
    let dice = Locked(SplitMix64(seed: seed ^ 0xfed))
    cloud = StubCloud(in: world, options: options) { _, _ in
      isQuiet.withLock { $0 } ? nil : dice.withLock { Self.fault(&$0) }
    }
    self.isQuiet = isQuiet
    self.random = random
  }

  /// What goes wrong with a call: all but lies of what was done.
  private static func fault(_ random: inout SplitMix64) -> StubCloud.Fault? {
    switch random.below(15) {
    case 0: return .lostBefore
    case 1: return .lostAfter
    case 2: return .never
    case 3: return .neverAfter
    case 4:
      let codes: [SyncError.Code] = [
        .networkFailure, .requestRateLimited, .serviceUnavailable, .zoneBusy, .networkUnavailable,
        .operationCancelled,
      ]
      return .failure(SyncError(codes[random.below(codes.count)]))
    case 5, 6: return .delay(.seconds(1 + random.below(90)))
    case 7: return .duplicate(again: .seconds(3))
    default: return nil
    }
  }

  /// Lives through thirty steps, ends all trouble, and tells what is wrong then.
  func run() throws -> [String] {
    for name in Self.names { cloud.save(SessionHarness.record(name, ["n": 0, "s": .list([])])) }
    devices = try (0..<2)
      .map { _ in
        try AdditionDevice(in: world, over: cloud, resolver: .fieldwise(Self.policies))
      }
    world.run()
    world.advance(by: .seconds(1_000))
    for _ in 0..<30 { for device in devices { try step(device) } }
    isQuiet.withLock { $0 = true }
    for _ in 0..<8 {
      for device in devices { try device.insist() }
      world.advance(by: .seconds(2_000))
    }
    return Self.names.flatMap(wrongs)
  }

  private func step(_ device: AdditionDevice) throws {
    if device.isDead { try device.open() }
    switch random.below(8) {
    case 0...3:
      world.run()
      let id = SessionHarness.id(Self.names[random.below(Self.names.count)])
      let hasUnsent = device.session.state.unsentEdits.contains { $0.recordID == id }
      if bit < 61, troubles.editsUnsent || !hasUnsent {
        try device.add(bit: bit, to: id)
        bit += 1
      }
    case 4, 5: device.fetch()
    case 6:
      device.session.stop()
      if random.below(2) == 0 { device.session.start() }
    default: device.session.start()
    }
    switch random.below(5) {
    case 0: world.advance(by: .seconds(random.below(200)))
    case 1: break
    default: world.run()
    }
    if troubles.hasCrashes, random.below(20) == 0 { device.crash() }
  }

  private func wrongs(of name: String) -> [String] {
    let id = SessionHarness.id(name)
    let bits = devices.flatMap { device in device.added.entries.filter { $0.id == id }.map(\.bit) }
    let sum = bits.reduce(Int64(0)) { $0 + Int64(1) << Int64($1) }
    guard let record = cloud[name] else { return ["\(name) is gone"] }
    var wrongs: [String] = []
    if record["n"] != .int64(sum) {
      wrongs.append("\(name): added \(sum), the cloud has \(String(describing: record["n"]))")
    }
    let elements: [FieldValue] = if case .list(let list)? = record["s"] { list } else { [] }
    for bit in bits where !elements.contains(.int64(Int64(bit))) {
      wrongs.append("\(name): element \(bit) is missing")
    }
    return wrongs
  }
}

/// A device of the world: a session, and a disk that survives it.
private final class AdditionDevice {
  private struct Disk: Sendable {
    var records: [RecordID: Record] = [:]
    var token: ChangeToken?
    var journal: Data?
    var isNew = false
  }

  /// A handler that hears nothing of a process that has died.
  private struct LiveHandler: WorkHandler {
    let base: StubCloud
    let isDead: Locked<Bool>
    var limits: RequestLimits { base.limits }

    func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
      if !isDead.withLock({ $0 }) { base.handle(work, context: context, completion: completion) }
    }

    func cancel(_ attempt: Attempt) { if !isDead.withLock({ $0 }) { base.cancel(attempt) } }
  }

  private let world: VirtualEnvironment
  private let cloud: StubCloud
  private let resolver: ConflictResolver
  private let disk = Locked(Disk())
  private var death = Locked(false)
  private(set) var session: CloudSyncSession
  /// What its sessions have taken.
  let added = Collector<(id: RecordID, bit: Int)>()

  var isDead: Bool { death.withLock { $0 } }

  init(in world: VirtualEnvironment, over cloud: StubCloud, resolver: ConflictResolver) throws {
    self.world = world
    self.cloud = cloud
    self.resolver = resolver
    session = try Self.session(in: world, over: cloud, resolver: resolver, disk: disk, death: death)
    begin()
  }

  /// A session with budgets that no test of so few steps spends: what is parked is sent again, which is tested elsewhere.
  private static func session(
    in world: VirtualEnvironment,
    over cloud: StubCloud,
    resolver: ConflictResolver,
    disk: Locked<Disk>,
    death: Locked<Bool>
  ) throws -> CloudSyncSession {
    var configuration = SyncConfiguration()
    configuration.timeout = .seconds(60)
    configuration.parkingBudget = 100_000
    configuration.conflictBudget = 1_000
    configuration.failureBudget = 1_000
    let session = try CloudSyncSession(
      journal: disk.withLock { $0.journal },
      operationHandler: LiveHandler(base: cloud, isDead: death),
      zoneID: SessionHarness.zoneID,
      configuration: configuration,
      resolver: resolver,
      environment: world.environment
    )
    disk.withLock { $0.isNew = true }
    session.journal { bytes in
      if death.withLock({ $0 }) { return }
      disk.withLock { disk in
        disk.journal = disk.isNew ? bytes : (disk.journal ?? Data()) + bytes
        disk.isNew = false
      }
    }
    session.cloudChangesSubject.sink { change in
      if death.withLock({ $0 }) { return }
      disk.withLock { disk in
        for record in change.recordsToStore(stored: { disk.records[$0] }) {
          disk.records[record.recordID] = record
        }
        for id in change.deletedRecordIDs { disk.records[id] = nil }
        if let token = change.changeToken { disk.token = token }
      }
    }
    return session
  }

  private func begin() {
    session.start()
    let token = disk.withLock { $0.token }
    session.fetch(FetchOperation(changeToken: token, startingOver: token == nil))
  }

  /// Begins again with what the disk has.
  func open() throws {
    death = Locked(false)
    session = try Self.session(in: world, over: cloud, resolver: resolver, disk: disk, death: death)
    begin()
  }

  func crash() { death.withLock { $0 = true } }

  func fetch() { session.fetch(FetchOperation(changeToken: disk.withLock { $0.token })) }

  /// Does all that a user can do so that everything comes into the cloud.
  func insist() throws {
    if isDead { try open() }
    session.start()
    session.retryNow()
    session.retryParked()
  }

  /// Adds a bit to the counter, and an element to the set.
  func add(bit: Int, to id: RecordID) throws {
    let stored = disk.withLock { $0.records[id] }
    let shown = session.state.unsentEdits.reduce(stored) { shown, edit in
      edit.recordID == id ? edit.applied(to: shown) : shown
    }
    guard let shown, case .int64(let number)? = shown["n"], case .list(let elements)? = shown["s"]
    else { return }
    var edited = shown
    edited["n"] = .int64(number + Int64(1) << Int64(bit))
    edited["s"] = .list(elements + [.int64(Int64(bit))])
    let (death, added) = (death, added)
    let operation = ModifyOperation(records: [edited], ancestors: [shown])
    try session.modify(
      operation,
      accepted: { _ in if !death.withLock({ $0 }) { added.add((id, bit)) } }
    )
  }
}

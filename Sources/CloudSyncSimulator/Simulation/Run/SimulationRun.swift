import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLocalCloud

/// What a simulation remembers.
struct SimulationMemory {
  var checkers: [any SimulationChecker]
  var outcome: SimulationOutcome
  /// Whether the devices have started in sync.
  var hasBegun = false
  /// Whether everything is healing.
  var isQuiet = false
  var isOver = false
  /// How often the cloud has changed something.
  var commits = 0
  var stalled: [Int] = []
  /// Whether a backup of the cloud is going to be put back.
  var hasBackup = false
  /// What puts it back right after the next save of somebody's, who is offline then.
  var restoration: (@Sendable (SimulatedHost) -> Void)?
  var random: SeededRandom
  var clockSteps: SeededRandom
  var removals: SeededRandom
  var backups: SeededRandom
  var waits: SeededRandom
  /// How many waiting calls the apps have made.
  var waitingCalls = 0
}

/// One simulation on its way.
///
/// Everything happens on one thread. The locks are only there because sessions may live on many.
final class SimulationRun: Sendable {
  let options: SimulationOptions
  let mutation: (any SimulationMutation)?
  let world = SimulatedEnvironment(jobLimit: 2_000_000)
  let cloud: LocalCloud
  let store: MemoryStore
  let hosts: [SimulatedHost]
  let variant: SimulationVariant
  let root: SeededRandom
  let memory: Locked<SimulationMemory>
  static var zoneID: ZoneID { ZoneID(name: "Notes") }
  static var owner: AccountIdentity { AccountIdentity("owner") }

  init(
    _ options: SimulationOptions,
    makeDevice: @Sendable (DeviceSetup) -> any SimulatedDevice,
    mutation: (any SimulationMutation)?,
    recordCheckers: @Sendable () -> sending [any SimulationChecker]?,
    checkers: @Sendable () -> sending [any SimulationChecker]
  ) {
    precondition(
      options.devices > 0 && options.edits >= 0,
      "A simulation needs at least one device, and no negative number of edits."
    )
    self.options = options
    self.mutation = mutation
    let root = SeededRandom(seed: options.seed)
    self.root = root
    let variant = SimulationVariant(root.fork(1))
    self.variant = variant
    let world = world
    let store = MemoryStore()
    self.store = store
    let cloud = LocalCloud(store: store, options: variant.cloud, now: { world.now })
    cloud.options.refusal = options.faults.refusal(seed: root.fork(5))
    self.cloud = cloud
    hosts = (0..<options.devices)
      .map {
        Self.host(
          number: $0,
          in: world,
          cloud: cloud,
          random: root.fork(100 + UInt64($0)),
          options: options,
          makeDevice: makeDevice
        )
      }
    let devices = hosts.map(\.device)
    for device in devices { (device as? any AcquaintedDevice)?.meet(devices) }
    memory = Locked(
      SimulationMemory(
        checkers: Self.standardCheckers(options: options, variant: variant),
        outcome: SimulationOutcome(options: options),
        random: root.fork(3),
        clockSteps: root.fork(4),
        removals: root.fork(6),
        backups: root.fork(7),
        waits: root.fork(8)
      )
    )
    memory.withLock { memory in
      memory.checkers += recordCheckers() ?? Self.recordCheckers(variant: variant)
      memory.checkers += checkers()
      if let mutation { memory.checkers += mutation.makeCheckers() }
    }
  }

  private static func host(
    number: Int,
    in world: SimulatedEnvironment,
    cloud: LocalCloud,
    random: SeededRandom,
    options: SimulationOptions,
    makeDevice: (DeviceSetup) -> any SimulatedDevice
  ) -> SimulatedHost {
    var draw = random.fork(3)
    let ratio = options.faults[.clockSkew]
    let isSkewed = ratio.hits > 0 && draw.chance(ratio.hits, in: ratio.cases)
    var skew = Duration.milliseconds(isSkewed ? draw.within(-600_000...600_000) : 0)
    let years = options.faults[.clockYears]
    var far = random.fork(5)
    let isFar = years.hits > 0 && far.chance(years.hits, in: years.cases)
    if isFar { skew += .seconds(far.within(-fiveYears...fiveYears)) }
    let host = SimulatedHost(
      number: number,
      device: makeDevice(
        DeviceSetup(number: number, zoneID: zoneID, seed: draw.next(), commonSeed: options.seed)
      ),
      clock: SimulatedClock(in: world, skew: skew),
      connection: cloud.connect(device: "device-\(number)", account: owner, zoneID: zoneID),
      random: random
    )
    if isFar { host.state.withLock { $0.coverage.count(.clockYears) } }
    return host
  }

  /// In seconds.
  private static var fiveYears: Int { 5 * 365 * 86_400 }

  /// The checkers of records that have the numbers of edits.
  private static func recordCheckers(
    variant: SimulationVariant
  ) -> sending [any SimulationChecker] {
    [
      EditChecker(),
      OrderChecker(knowsWriteTokens: variant.cloud.knowsWriteTokens),
      DeletionChecker(knowsWriteTokens: variant.cloud.knowsWriteTokens), ConvergenceChecker(),
    ]
  }

  /// The checkers of every simulation.
  private static func standardCheckers(
    options: SimulationOptions,
    variant: SimulationVariant
  ) -> sending [any SimulationChecker] {
    var checkers: [any SimulationChecker] = [
      LivenessChecker(), TagChecker(),
      FlightChecker(devices: options.devices),
      GateChecker(devices: options.devices), FeedChecker(devices: options.devices),
      CompletionChecker(devices: options.devices), StateChecker(), HaltChecker(),
      QueueChecker(), PatienceChecker(devices: options.devices),
      WaitChecker(devices: options.devices), AcceptanceChecker(devices: options.devices),
      ProgressChecker(devices: options.devices), CancellationChecker(devices: options.devices),
    ]
    if variant.hasProvider {
      checkers.append(AccountChecker(devices: options.devices, owner: owner))
    }
    return checkers
  }

  // MARK: Telling

  var isQuiet: Bool { memory.withLock { $0.isQuiet } }
  var isOver: Bool { memory.withLock { $0.isOver } }

  /// Tells the checkers what happens.
  func report(event: SimulationEvent, device: Int) {
    guard let mutation else { return check(event: event, device: device) }
    for told in mutation.told(event, device: device) { check(event: told, device: device) }
  }

  private func check(event: SimulationEvent, device: Int) {
    let time = world.elapsedNanoseconds
    memory.withLock { memory in
      guard !memory.isOver else { return }
      memory.count(event: event, device: device, time: time)
      for checker in memory.checkers {
        guard let text = checker.observe(event, on: device, at: time) else { continue }
        return memory.fail(rule: checker.rule, text: text, at: time)
      }
    }
  }

  /// Ends the run because of something that must not happen.
  func fail(rule: String, text: String) {
    let time = world.elapsedNanoseconds
    memory.withLock { $0.fail(rule: rule, text: text, at: time) }
  }

  /// Does something with the cloud, whose memory never fails.
  func withCloud(body: (LocalCloud) throws(LocalCloudStoreError) -> Void) {
    do throws(LocalCloudStoreError) { try body(cloud) } catch {
      fail(rule: "the cloud works", text: "the cloud's store failed: \(error)")
    }
  }
}

extension SimulationMemory {
  /// Whether nothing goes wrong now.
  var isFaultFree: Bool { !hasBegun || isQuiet }

  mutating func fail(rule: String, text: String, at time: Int64) {
    guard outcome.violation == nil else { return }
    outcome.violation = .init(rule: rule, text: text, elapsed: .nanoseconds(time))
    isOver = true
  }

  /// Counts what happens, and mixes it into the digest.
  mutating func count(event: SimulationEvent, device: Int, time: Int64) {
    switch event {
    case .event(let record, _, _):
      outcome.eventCount += 1
      mix(UInt64(bitPattern: record.time.nanoseconds) ^ record.sequence)
      mix(UInt64(record.origin.rawValue) ^ ((record.cause ?? 0) << 3) ^ UInt64(device) << 48)
    case .called(let work, let context):
      outcome.requestCount += 1
      mix(context.writeToken.nonce ^ (UInt64(work.itemCount) << 32) ^ UInt64(device))
    case .carriedOut(.modify, _, .success(.modify(let response))):
      commits += 1
      mix(UInt64(response.savedRecords.count) << 32 ^ UInt64(response.deletedRecordIDs.count))
    default: break
    }
    mix(UInt64(bitPattern: time))
  }

  private mutating func mix(_ number: UInt64) {
    outcome.digest = (outcome.digest ^ number) &* 0x0000_0100_0000_01b3
    outcome.digest ^= outcome.digest >> 29
  }
}

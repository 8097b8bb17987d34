import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// Devices that add to one counter, each to what it fetched last, over a faulty network.
private final class CounterDevice: Sendable {
  private struct State {
    var left: Int
    var isBusy = false
  }

  static let zoneID = ZoneID(name: "Counters")
  static let recordID = RecordID(name: "likes", zoneID: zoneID)

  let session: CloudSyncSession
  let handler: FaultyOperationHandler
  private let state: Locked<State>

  init(
    number: Int,
    in world: SimulatedEnvironment,
    cloud: LocalCloud,
    steps: Int,
    policy: FieldPolicy,
    random: SeededRandom
  ) {
    var random = random
    var plan = FaultPlan.none
    // Not those where a request never arrives: if somebody else takes the same step meanwhile, nobody
    // can tell whose it is.
    for point in [FaultPoint.responseLost, .duplicated, .late, .zoneBusy, .throttle] {
      plan[point] = FaultPlan.Ratio(1, in: 10)
    }
    let connection = cloud.connect(
      device: "\(number)",
      account: AccountIdentity("owner"),
      zoneID: Self.zoneID
    )
    handler = FaultyOperationHandler(connection, in: world, seed: random.next(), plan: plan)
    state = Locked(State(left: steps))
    session = CloudSyncSession(
      operationHandler: handler,
      zoneID: Self.zoneID,
      resolver: .fieldwise(["count": policy], default: .client),
      environment: world.environment
    )
    session.start()
  }

  /// Fetches, and adds one to what it was told; nothing happens while it is still at that.
  func step() {
    let begins = state.withLock { state in
      guard !state.isBusy, state.left > 0 else { return false }
      state.isBusy = true
      return true
    }
    guard begins else { return }
    session.fetch(FetchOperation(startingOver: true)) { [weak self] result in
      guard let self else { return }
      guard case .success(let page) = result,
        let base = page.changedRecords.first(where: { $0.recordID == Self.recordID })
      else { return state.withLock { $0.isBusy = false } }
      add(to: base)
    }
  }

  private func add(to base: Record) {
    var edited = base
    edited["count"] = .int64((base["count"]?.int64Value ?? 0) + 1)
    do {
      try session.modify(ModifyOperation(records: [edited], ancestors: [base])) { [weak self] _ in
        self?.state
          .withLock { state in
            state.isBusy = false
            state.left -= 1
          }
      }
    } catch { Issue.record(error) }
  }

  /// How many steps it has not made.
  var left: Int { state.withLock { $0.left } }
}

@Suite("Counters that several devices add to")
struct CounterTests {
  /// What the counter comes to when each of three devices adds one so many times.
  private static func sum(seed: UInt64, steps: Int, policy: FieldPolicy) throws -> Int64? {
    var random = SeededRandom(seed: seed)
    let world = SimulatedEnvironment()
    let cloud = LocalCloud(now: { world.now })
    let owner = AccountIdentity("owner")
    let first = cloud.connect(device: "first", account: owner, zoneID: CounterDevice.zoneID)
    let maker = CloudSyncSession(
      operationHandler: first,
      zoneID: CounterDevice.zoneID,
      environment: world.environment
    )
    maker.start()
    let record = Record(
      recordType: "Counter",
      recordID: CounterDevice.recordID,
      fields: ["count": 0]
    )
    try maker.modify(ModifyOperation(records: [record]))
    world.runToEnd()
    let devices = (0..<3)
      .map { number in
        CounterDevice(
          number: number,
          in: world,
          cloud: cloud,
          steps: steps,
          policy: policy,
          random: random.fork(UInt64(number))
        )
      }
    var rounds = 0
    while devices.contains(where: { $0.left > 0 }), rounds < 10_000 {
      rounds += 1
      // Now and then all at once, so that they add the same to the same.
      let isTogether = random.chance(1, in: 2)
      let chosen = random.below(devices.count)
      for (number, device) in devices.enumerated() where isTogether || number == chosen {
        device.step()
      }
      world.advance(by: .milliseconds(random.below(5_000)))
    }
    for device in devices { device.handler.plan = .none }
    world.runToEnd()
    let records = try cloud.records(account: owner, zone: CounterDevice.zoneID)
    return records.first { $0.recordID == CounterDevice.recordID }?["count"]?.int64Value
  }

  @Test(
    "Every step counts once, equal steps of several devices too",
    arguments: SuiteSize.few(5, of: Array(UInt64(1)...20))
  )
  func everyStepCounts(seed: UInt64) throws {
    let sum = try Self.sum(seed: seed, steps: 8, policy: .counterSum)
    #expect(sum == 24)
  }

  @Test("Without the policy steps are lost, so the devices do meet")
  func stepsAreLostWithoutPolicy() throws {
    let sums = try (UInt64(1)...5).map { try Self.sum(seed: $0, steps: 8, policy: .client) ?? 0 }
    #expect(sums.contains { $0 < 24 })
  }
}

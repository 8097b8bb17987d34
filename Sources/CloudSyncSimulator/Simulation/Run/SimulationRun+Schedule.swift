import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLocalCloud

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SimulationRun {
  /// Runs everything.
  func execute() -> SimulationOutcome {
    var workload = Workload(options, random: root.fork(2))
    begin(workload: &workload)
    while !isOver, let step = workload.next() {
      world.advance(by: step.gap)
      injectDeviceFaults()
      perform(step)
    }
    if !isOver { settle() }
    return conclude()
  }

  /// Starts in sync: one device makes the first records, all others get them.
  private func begin(workload: inout Workload) {
    for host in hosts {
      let delay = host.state.withLock { $0.random.below(1_000) }
      world.schedule(after: .milliseconds(delay)) { [self] in launch(host) }
    }
    world.advance(by: .seconds(2))
    apply(workload.firstEdits(), on: hosts[0])
    world.advance(by: .seconds(30))
    memory.withLock { $0.hasBegun = true }
    for host in hosts {
      host.state.withLock { $0.faulty }?.plan = options.faults
      scheduleVisits(to: host)
    }
  }

  /// Lets a user look at a device now and then.
  private func scheduleVisits(to host: SimulatedHost) {
    let (delay, repairs) = host.state.withLock { state in
      (state.random.within(60...180), state.random.chance(1, in: 2))
    }
    world.schedule(after: .seconds(delay)) { [self] in
      guard !isOver, !isQuiet else { return }
      if host.isAwake {
        if repairs { host.device.repair() }
        host.device.fetch()
        if memory.withLock({ $0.waits.chance(1, in: 2) }) { wait(on: host) }
      }
      scheduleVisits(to: host)
    }
  }

  /// Lets the user of a device make edits; a device that is not awake has no user.
  private func perform(_ step: Workload.Step) {
    for offset in hosts.indices {
      let host = hosts[(step.device + offset) % hosts.count]
      if host.isAwake { return apply(step.edits, on: host) }
    }
  }

  private func apply(_ edits: [DeviceEdit], on host: SimulatedHost) {
    guard !isOver, host.isAwake else { return }
    report(event: .edited(edits), device: host.number)
    host.device.apply(edits)
  }

  // MARK: The quiet phase

  /// Lets everything endFaults, and waits until all is at rest and nothing changes any more.
  private func settle() {
    endFaults()
    var commits = -1
    for round in 0..<Self.roundLimit where !isOver {
      for host in hosts {
        host.device.repair()
        host.device.fetch()
      }
      world.advance(by: .seconds(1))
      world.run(while: { !hasSettled && !isOver }, limit: options.quietLimit)
      let now = memory.withLock { $0.commits }
      // Whoever does not come to rest without being looked after never does.
      if !hasSettled || isAtRest && round > 0 && now == commits { break }
      commits = now
    }
  }

  /// How often the users look after their devices in the quiet phase.
  private static var roundLimit: Int { 12 }

  /// Whether no device does anything more by itself.
  private var hasSettled: Bool {
    hosts.allSatisfy { host in
      guard let state = host.device.session?.state, host.isAwake else { return false }
      if host.state.withLock({ $0.isPushed }) { return false }
      if case .lost = state.zoneState { return !isLookingUp(host, in: state) }
      if state.isHalted { return true }
      guard state.isRunning, !state.hasWorkQueued, state.parked.quota == nil else { return false }
      return !host.device.hasPlans
    }
  }

  /// Whether a response is to come yet that may tell a device without its zone that the zone is there again.
  private func isLookingUp(_ host: SimulatedHost, in state: SyncState) -> Bool {
    switch state.next(at: host.clock.now) {
    case .request: true
    case .wait(let reasons, _): !reasons.isDisjoint(with: [.inFlight, .gate])
    }
  }

  private var isAtRest: Bool { hosts.allSatisfy(isAtRest) }

  private func isAtRest(host: SimulatedHost) -> Bool {
    guard let state = host.device.session?.state, host.isAwake else { return false }
    guard case .ready = state.zoneState, state.isRunning, !state.hasWorkQueued else { return false }
    return state.parkedRecords.isEmpty && !host.state.withLock { $0.isPushed }
  }

  /// What keeps a device from being at rest.
  private func pendingReason(host: SimulatedHost) -> String? {
    if isAtRest(host: host) { return nil }
    return host.device.session.map { "\($0.explain())" } ?? "the app does not run"
  }

  // MARK: The end

  private func conclude() -> SimulationOutcome {
    if world.isStuck {
      fail(rule: "time goes on", text: "jobs make jobs without end, and time stands still")
    }
    if !isOver { finish() }
    for host in hosts { host.device.session?.stop() }
    var outcome = memory.withLock { memory in
      memory.isOver = true
      return memory.outcome
    }
    outcome.elapsed = world.elapsed
    for host in hosts {
      let (coverage, faulty, recorders) = host.state.withLock { state in
        (state.coverage, state.faulty, state.recorders)
      }
      outcome.coverage.add(coverage)
      if let faulty { outcome.coverage.add(faulty.coverage) }
      for (index, recorder) in recorders.enumerated() {
        guard let data = recorder.data(redactor: .none) else { continue }
        outcome.logs.append(.init(device: host.number, process: index + 1, data: data))
      }
    }
    // What holds each other is parted, or nothing of it would ever be released; checkers keep sessions, which tell them
    // what happens.
    let checkers = memory.withLock { memory in
      defer { memory.checkers = [] }
      return memory.checkers
    }
    withExtendedLifetime(checkers) {}  // Released outside the lock.
    for host in hosts {
      host.state.withLock { $0.faulty }?.dropHeldAnswers()
      host.process?.end()
      host.device.quit()
      let sibling = host.state.withLock { state in
        state.process = nil
        state.faulty = nil
        state.recorders = []
        defer { state.sibling = nil }
        return state.sibling
      }
      _ = consume sibling  // Released outside the lock.
    }
    world.close()
    return outcome
  }

  private func finish() {
    var records: [Record] = []
    withCloud { (cloud) throws(LocalCloudStoreError) in
      records = try cloud.records(account: Self.owner, zone: Self.zoneID)
    }
    records.sort { $0.recordID.name < $1.recordID.name }
    let devices = hosts.map { host in
      SimulationEnd.Device(
        device: host.device,
        contents: host.device.contents(),
        state: host.device.session?.state,
        pendingReason: pendingReason(host: host)
      )
    }
    let end = SimulationEnd(
      devices: devices,
      cloud: records.map(DeviceRecord.init),
      records: records,
      isQuiet: isAtRest
    )
    let time = world.elapsedNanoseconds
    memory.withLock { memory in
      for checker in memory.checkers {
        guard let text = checker.finish(end) else { continue }
        return memory.fail(rule: checker.rule, text: text, at: time)
      }
    }
  }
}

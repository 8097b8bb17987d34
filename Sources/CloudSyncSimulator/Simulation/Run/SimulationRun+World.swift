import CloudSyncCore
import CloudSyncLocalCloud

extension SimulationRun {
  /// Brings about a change of the world; returns false where this world cannot change so.
  func injectWorldFault(point: FaultPoint, host: SimulatedHost) -> Bool {
    switch point {
    case .tokenExpired:
      withCloud { (cloud) throws(LocalCloudStoreError) in
        try cloud.expireTokens(Self.zoneID, account: Self.owner)
      }
    case .zoneDeleted: deleteZone(reason: .deleted, host: host)
    case .zonePurged: deleteZone(reason: .purged, host: host)
    case .zoneReset: deleteZone(reason: .encryptedDataReset, host: host)
    case .quotaFull:
      setQuota(byteCount: 0)
      later(seconds: 10...900) { [self] in setQuota(byteCount: nil) }
    case .signedOut: return changeAccount(status: .noAccount, isForeign: false, host: host)
    case .accountUnavailable:
      return changeAccount(status: .temporarilyUnavailable, isForeign: false, host: host)
    case .storeRestored: keepBackup(host: host)
    case .accountSwitched: return changeAccount(status: .available, isForeign: true, host: host)
    default: return false
    }
    return true
  }

  /// Does something after a number of seconds out of a range.
  func later(seconds: ClosedRange<Int>, body: @escaping @Sendable () -> Void) {
    let delay = memory.withLock { $0.random.within(seconds) }
    world.schedule(after: .seconds(delay), body)
  }

  /// Makes a backup of the cloud, which somebody puts back later without a word to anybody.
  ///
  /// That is at any time, or right after a save was answered. One device is offline then, so that others may write as
  /// much as was lost before it fetches.
  private func keepBackup(host: SimulatedHost) {
    let drawn = memory.withLock { memory -> (seconds: Int, isClosed: Bool, followsSave: Bool)? in
      if memory.hasBackup { return nil }
      memory.hasBackup = true
      return (
        memory.backups.within(1...300), memory.backups.chance(1, in: 2),
        memory.backups.chance(1, in: 2)
      )
    }
    guard let drawn else { return }
    let backup = store.backup()
    let restore: @Sendable (SimulatedHost) -> Void = { [self] absent in
      // Whoever begins anew then would never come to rest.
      guard memory.withLock({ $0.hasBackup && !$0.isQuiet && !$0.isOver }) else { return }
      store.restore(backup, isClosed: drawn.isClosed)
      memory.withLock { $0.hasBackup = false }
      report(event: .storeRestored, device: host.number)
      leave(host: absent)
    }
    world.schedule(after: .seconds(drawn.seconds)) { [self] in
      if drawn.followsSave { return memory.withLock { $0.restoration = restore } }
      restore(hosts[memory.withLock { $0.backups.below(hosts.count) }])
    }
  }

  /// Puts a backup back that waits for a save.
  func restoreStore(afterSaveOf host: SimulatedHost) {
    let restoration = memory.withLock { memory in
      defer { memory.restoration = nil }
      return memory.restoration
    }
    restoration?(host)
  }

  /// Has a device be offline for a while.
  private func leave(host: SimulatedHost) {
    host.state.withLock { $0.isOffline = true }
    let seconds = memory.withLock { $0.backups.within(10...400) }
    world.schedule(after: .seconds(seconds)) { [self] in connect(host: host) }
  }

  private func deleteZone(reason: ZoneDeletionReason, host: SimulatedHost) {
    withCloud { (cloud) throws(LocalCloudStoreError) in
      guard try cloud.hasZone(Self.zoneID, account: Self.owner) else { return }
      try cloud.deleteZone(Self.zoneID, account: Self.owner, reason: reason)
      report(event: .zoneLost, device: host.number)
    }
  }

  /// Has somebody remove a record with another tool: what storage layers keep for themselves is not touched.
  func removeRecord(besides host: SimulatedHost) {
    var names: [RecordID] = []
    withCloud { (cloud) throws(LocalCloudStoreError) in
      guard try cloud.hasZone(Self.zoneID, account: Self.owner) else { return }
      names = try cloud.records(account: Self.owner, zone: Self.zoneID).map(\.recordID)
    }
    names.removeAll { $0.name.hasPrefix("cloudsync_") }
    names.sort { $0.name < $1.name }
    guard !names.isEmpty else { return }
    let (recordID, nonce) = memory.withLock { memory in
      (memory.removals.pick(names), memory.removals.next())
    }
    let console = cloud.connect(device: "console", account: Self.owner, zoneID: Self.zoneID)
    let context = RequestContext(
      attempt: Attempt(epoch: 1, number: 1),
      writeToken: WriteToken(nonce: nonce, number: 1),
      deadline: .distantFuture
    )
    let removal = ModifyOperation(recordIDsToDelete: [recordID])
    console.perform(.modify(removal), context: context) { [self] result in
      guard case .success(.modify(let response)) = result, !response.deletedRecordIDs.isEmpty else {
        return
      }
      report(event: .recordRemoved(recordID), device: host.number)
      push(from: host.number)
    }
  }

  private func setQuota(byteCount: Int64?) {
    withCloud { (cloud) throws(LocalCloudStoreError) in
      try cloud.setQuota(byteCount, account: Self.owner)
    }
  }

  private func changeAccount(
    status: AccountStatus,
    isForeign: Bool,
    host: SimulatedHost
  ) -> Bool {
    guard variant.hasProvider else { return false }
    host.state.withLock { state in
      state.status = status
      state.isForeign = isForeign
    }
    host.device.session?.accountDidChange()
    later(seconds: 5...600) { [self] in restoreAccount(host: host) }
    return true
  }

  func restoreAccount(host: SimulatedHost) {
    let didChange = host.state.withLock { state in
      defer {
        state.status = .available
        state.isForeign = false
      }
      return state.status != .available || state.isForeign
    }
    if didChange { host.device.session?.accountDidChange() }
  }

  // MARK: Devices

  /// Draws what goes wrong with the devices, before an edit.
  func injectDeviceFaults() {
    let (stalls, offline, skew) = (plan[.stalled], plan[.offline], plan[.clockSkew])
    let draws = memory.withLock { memory in
      (
        memory.random.chance(stalls.hits, in: stalls.cases),
        memory.random.chance(offline.hits, in: offline.cases),
        skew.hits > 0 && memory.random.chance(1, in: 200),
        memory.random.below(hosts.count), memory.random.within(-3_600...3_600)
      )
    }
    let host = hosts[draws.3]
    if draws.0 { stall(host: host) }
    if draws.1 { disconnect(host: host) }
    if draws.2 {
      host.state.withLock { $0.coverage.count(.clockSkew) }
      setClock(of: host, seconds: draws.4)
    }
    stepClock()
  }

  /// Sets a clock far forward or back, as a user does who tries out tomorrow, or whose battery was
  /// empty.
  private func stepClock() {
    let ratio = plan[.clockStep]
    guard ratio.hits > 0 else { return }
    let (isHit, number, seconds) = memory.withLock { memory in
      let isHit = memory.clockSteps.chance(ratio.hits, in: ratio.cases)
      let size = memory.clockSteps.pick([300, 3_600, 86_400, 5 * 86_400])
      let sign = memory.clockSteps.chance(1, in: 2) ? 1 : -1
      return (isHit, memory.clockSteps.below(hosts.count), sign * size)
    }
    guard isHit else { return }
    let host = hosts[number]
    // Whoever waits then must not wait for the clock; without a network nothing else ends the wait.
    let (pause, isOffline) = memory.withLock { ($0.waits.below(8), $0.waits.chance(1, in: 2)) }
    if isOffline { leave(host: host) }
    for _ in 0..<2 { wait(on: host) }
    world.schedule(after: .seconds(pause)) { [self] in
      guard !isQuiet else { return }
      host.state.withLock { $0.coverage.count(.clockStep) }
      setClock(of: host, seconds: seconds)
    }
  }

  private func setClock(of host: SimulatedHost, seconds: Int) {
    host.clock.jump(by: .seconds(seconds))
    report(event: .clockSet(by: .seconds(seconds)), device: host.number)
  }

  /// Suspends one more device; all are released some time after the first, in random order.
  private func stall(host: SimulatedHost) {
    guard host.isAwake, let process = host.process else { return }
    process.stall()
    report(event: .suspended, device: host.number)
    host.state.withLock { $0.coverage.count(.stalled) }
    let isFirst = memory.withLock { memory in
      memory.stalled.append(host.number)
      return memory.stalled.count == 1
    }
    guard isFirst else { return }
    later(seconds: 30...400) { [self] in
      let numbers = memory.withLock { memory in
        memory.random.shuffle(&memory.stalled)
        defer { memory.stalled = [] }
        return memory.stalled
      }
      for number in numbers {
        later(seconds: 0...20) { [self] in resume(hosts[number]) }
      }
    }
  }

  private func resume(_ host: SimulatedHost) {
    guard let process = host.process, process.isStalled else { return }
    process.release()
    report(event: .resumed, device: host.number)
  }

  private func disconnect(host: SimulatedHost) {
    let wasOffline = host.state.withLock { state in
      defer { state.isOffline = true }
      return state.isOffline
    }
    guard !wasOffline else { return }
    host.state.withLock { $0.coverage.count(.offline) }
    wait(on: host)
    later(seconds: 10...600) { [self] in connect(host: host) }
  }

  func connect(host: SimulatedHost) {
    let wasOffline = host.state.withLock { state in
      defer { state.isOffline = false }
      return state.isOffline
    }
    if wasOffline { host.device.session?.connectivityChanged() }
  }

  /// Makes everything well that has gone wrong.
  func endFaults() {
    memory.withLock { memory in
      memory.isQuiet = true
      memory.stalled = []
    }
    withCloud { (cloud) throws(LocalCloudStoreError) in
      try cloud.setQuota(nil, account: Self.owner)
    }
    cloud.options.refusal = nil
    for host in hosts {
      host.state.withLock { $0.faulty }?.plan = .none
      resume(host)
      launch(host)
      connect(host: host)
      restoreAccount(host: host)
    }
  }
}

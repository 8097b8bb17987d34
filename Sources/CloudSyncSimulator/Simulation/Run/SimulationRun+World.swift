import CloudSyncCore
import CloudSyncLocalCloud

extension SimulationRun {
  /// Brings about a change of the world; returns false where this world cannot change so.
  func injectWorldFault(_ point: FaultPoint, _ host: SimulatedHost) -> Bool {
    switch point {
    case .tokenExpired:
      withCloud { (cloud) throws(LocalCloudStoreError) in
        try cloud.expireTokens(Self.zoneID, account: Self.owner)
      }
    case .zoneDeleted: deleteZone(.deleted, host)
    case .zonePurged: deleteZone(.purged, host)
    case .zoneReset: deleteZone(.encryptedDataReset, host)
    case .quotaFull:
      setQuota(0)
      later(10...900) { [self] in setQuota(nil) }
    case .signedOut: return changeAccount(.noAccount, isForeign: false, host)
    case .accountUnavailable:
      return changeAccount(.temporarilyUnavailable, isForeign: false, host)
    case .accountSwitched: return changeAccount(.available, isForeign: true, host)
    default: return false
    }
    return true
  }

  /// Does something after a number of seconds out of a range.
  func later(_ seconds: ClosedRange<Int>, _ body: @escaping @Sendable () -> Void) {
    let delay = memory.withLock { $0.random.within(seconds) }
    world.schedule(after: .seconds(delay), body)
  }

  private func deleteZone(_ reason: ZoneDeletionReason, _ host: SimulatedHost) {
    withCloud { (cloud) throws(LocalCloudStoreError) in
      guard try cloud.hasZone(Self.zoneID, account: Self.owner) else { return }
      try cloud.deleteZone(Self.zoneID, account: Self.owner, reason: reason)
      report(.zoneLost, host.number)
    }
  }

  private func setQuota(_ byteCount: Int64?) {
    withCloud { (cloud) throws(LocalCloudStoreError) in
      try cloud.setQuota(byteCount, account: Self.owner)
    }
  }

  private func changeAccount(
    _ status: AccountStatus,
    isForeign: Bool,
    _ host: SimulatedHost
  ) -> Bool {
    guard variant.hasProvider else { return false }
    host.state.withLock { state in
      state.status = status
      state.isForeign = isForeign
    }
    host.device.session?.accountDidChange()
    later(5...600) { [self] in restoreAccount(host) }
    return true
  }

  func restoreAccount(_ host: SimulatedHost) {
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
    if draws.0 { stall(host) }
    if draws.1 { disconnect(host) }
    if draws.2 {
      host.clock.jump(by: .seconds(draws.4))
      host.state.withLock { $0.coverage.count(.clockSkew) }
      report(.clockSet, host.number)
    }
  }

  /// Suspends one more device; all are released some time after the first, in random order.
  private func stall(_ host: SimulatedHost) {
    guard host.isAwake, let process = host.process else { return }
    process.stall()
    host.state.withLock { $0.coverage.count(.stalled) }
    let isFirst = memory.withLock { memory in
      memory.stalled.append(host.number)
      return memory.stalled.count == 1
    }
    guard isFirst else { return }
    later(30...400) { [self] in
      let numbers = memory.withLock { memory in
        memory.random.shuffle(&memory.stalled)
        defer { memory.stalled = [] }
        return memory.stalled
      }
      for number in numbers {
        later(0...20) { [self] in hosts[number].process?.release() }
      }
    }
  }

  private func disconnect(_ host: SimulatedHost) {
    let wasOffline = host.state.withLock { state in
      defer { state.isOffline = true }
      return state.isOffline
    }
    guard !wasOffline else { return }
    host.state.withLock { $0.coverage.count(.offline) }
    later(10...600) { [self] in connect(host) }
  }

  func connect(_ host: SimulatedHost) {
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
    for host in hosts {
      host.state.withLock { $0.faulty }?.plan = .none
      host.process?.release()
      launch(host)
      connect(host)
      restoreAccount(host)
    }
  }
}

import CloudSyncCore
import CloudSyncLocalCloud

extension SimulationRun {
  /// Brings about a change of the world; returns false where this world cannot change so.
  func changeWorld(_ point: FaultPoint, _ seat: SimulationSeat) -> Bool {
    switch point {
    case .tokenExpired:
      withCloud { (cloud) throws(LocalCloudStoreError) in
        try cloud.expireTokens(Self.zoneID, account: Self.owner)
      }
    case .zoneDeleted: deleteZone(.deleted, seat)
    case .zonePurged: deleteZone(.purged, seat)
    case .zoneReset: deleteZone(.encryptedDataReset, seat)
    case .quotaFull:
      setQuota(0)
      later(10...900) { [self] in setQuota(nil) }
    case .signedOut: return changeAccount(.noAccount, isForeign: false, seat)
    case .accountUnavailable:
      return changeAccount(.temporarilyUnavailable, isForeign: false, seat)
    case .accountSwitched: return changeAccount(.available, isForeign: true, seat)
    default: return false
    }
    return true
  }

  /// Does something after a number of seconds out of a range.
  func later(_ seconds: ClosedRange<Int>, _ body: @escaping @Sendable () -> Void) {
    let delay = memory.withLock { $0.random.within(seconds) }
    world.schedule(after: .seconds(delay), body)
  }

  private func deleteZone(_ reason: ZoneDeletionReason, _ seat: SimulationSeat) {
    withCloud { (cloud) throws(LocalCloudStoreError) in
      guard try cloud.hasZone(Self.zoneID, account: Self.owner) else { return }
      try cloud.deleteZone(Self.zoneID, account: Self.owner, reason: reason)
      tell(.zoneLost, seat.number)
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
    _ seat: SimulationSeat
  ) -> Bool {
    guard variant.hasProvider else { return false }
    seat.state.withLock { state in
      state.status = status
      state.isForeign = isForeign
    }
    seat.device.session?.accountDidChange()
    later(5...600) { [self] in restoreAccount(seat) }
    return true
  }

  func restoreAccount(_ seat: SimulationSeat) {
    let didChange = seat.state.withLock { state in
      defer {
        state.status = .available
        state.isForeign = false
      }
      return state.status != .available || state.isForeign
    }
    if didChange { seat.device.session?.accountDidChange() }
  }

  // MARK: Devices

  /// Draws what goes wrong with the devices, before an edit.
  func troubleDevices() {
    let (stalls, offline, skew) = (plan[.stalled], plan[.offline], plan[.clockSkew])
    let draws = memory.withLock { memory in
      (
        memory.random.chance(stalls.hits, in: stalls.cases),
        memory.random.chance(offline.hits, in: offline.cases),
        skew.hits > 0 && memory.random.chance(1, in: 200),
        memory.random.below(seats.count), memory.random.within(-3_600...3_600)
      )
    }
    let seat = seats[draws.3]
    if draws.0 { stall(seat) }
    if draws.1 { disconnect(seat) }
    if draws.2 {
      seat.clock.jump(by: .seconds(draws.4))
      seat.state.withLock { $0.coverage.count(.clockSkew) }
      tell(.clockSet, seat.number)
    }
  }

  /// Suspends one more device; all are released some time after the first, in random order.
  private func stall(_ seat: SimulationSeat) {
    guard seat.isAwake, let process = seat.process else { return }
    process.stall()
    seat.state.withLock { $0.coverage.count(.stalled) }
    let isFirst = memory.withLock { memory in
      memory.stalled.append(seat.number)
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
        later(0...20) { [self] in seats[number].process?.release() }
      }
    }
  }

  private func disconnect(_ seat: SimulationSeat) {
    let wasOffline = seat.state.withLock { state in
      defer { state.isOffline = true }
      return state.isOffline
    }
    guard !wasOffline else { return }
    seat.state.withLock { $0.coverage.count(.offline) }
    later(10...600) { [self] in connect(seat) }
  }

  func connect(_ seat: SimulationSeat) {
    let wasOffline = seat.state.withLock { state in
      defer { state.isOffline = false }
      return state.isOffline
    }
    if wasOffline { seat.device.session?.connectivityChanged() }
  }

  /// Makes everything well that has gone wrong.
  func heal() {
    memory.withLock { memory in
      memory.isQuiet = true
      memory.stalled = []
    }
    withCloud { (cloud) throws(LocalCloudStoreError) in
      try cloud.setQuota(nil, account: Self.owner)
    }
    for seat in seats {
      seat.state.withLock { $0.faulty }?.plan = .none
      seat.process?.release()
      launch(seat)
      connect(seat)
      restoreAccount(seat)
    }
  }
}

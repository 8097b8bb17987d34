public import CloudSyncCore

extension LocalCloud {
  /// Begins a new branch of the store's history; call it once after a backup was restored.
  ///
  /// Devices have seen what the backup lacks. Those whose change tokens are of what was lost are told so anyway; after
  /// this call all are: whoever fetches with an older token is told that the zone was reset, so that it uploads again
  /// what the backup lacks. Repeats of requests from before are not recognized.
  ///
  /// - Parameter nonce: A number that no other call gets; by default a random one.
  /// - Throws: What the store has to say.
  public func renew(
    nonce: UInt64 = SyncEnvironment.live.nonce()
  ) throws(LocalCloudStoreError) {
    try transaction(.write, frame: accountFrame(account: AccountIdentity(""))) {
      (engine) throws(LocalCloudStoreError) in
      try engine.renew(branch: nonce)
    }
  }
}

extension LocalCloud {
  /// Whether a change token tells of changes that the store has lost: a backup was restored, and nobody has called
  /// ``renew(nonce:)`` since.
  package func isBehind(
    _ token: ChangeToken,
    account: AccountIdentity,
    zone: ZoneID
  ) throws(LocalCloudStoreError) -> Bool {
    try transaction(.read, frame: frame(device: "", account: account, zoneID: zone)) {
      (engine) throws(LocalCloudStoreError) in
      let counters = try engine.counters()
      guard let place = FeedToken(token, sealedBy: counters.tokenSeal),
        place.branch == counters.branch,
        let account = try engine.account(), let zone = try engine.zone(of: account)
      else { return false }
      if place.number == zone.number, place.position > zone.lastPosition { return true }
      return try engine.holds(place.history, in: account) == false
    }
  }
}

extension CloudEngine {
  /// Begins a branch of the history.
  fileprivate func renew(branch: UInt64) throws(LocalCloudStoreError) {
    try store.lock(.counters)
    var counters = try storedCounters()
    counters.branch = branch
    try store.setDocument(StoreDocument(.counters(counters)), for: StoreCounters.key)
    // They tell of tags that are not given any more.
    for (key, _) in try store.documents(withPrefix: AnswerDocument.prefix) {
      try store.removeDocument(key)
    }
  }
}

public import CloudSyncCore

extension LocalCloud {
  // MARK: Looking

  /// The records of a zone, sorted by ID; none where there is no such zone.
  ///
  /// - Throws: What the store has to say; a ``MemoryStore`` never throws.
  public func records(
    account: AccountIdentity,
    zone: ZoneID
  ) throws(LocalCloudStoreError) -> [Record] {
    try transaction(.read, frame: frame(device: "", account: account, zoneID: zone)) {
      (engine) throws(LocalCloudStoreError) in
      guard let account = try engine.account(), let zone = try engine.zone(of: account),
        zone.gone == nil
      else { return [] }
      return try engine.store.items(in: zone.key, after: 0, limit: .max, byteLimit: .max)
        .compactMap(\.record)
        .sorted { $0.recordID < $1.recordID }
    }
  }

  /// How many bytes an account holds, assets among them.
  ///
  /// - Throws: What the store has to say; a ``MemoryStore`` never throws.
  public func usedByteCount(account: AccountIdentity) throws(LocalCloudStoreError) -> Int64 {
    try transaction(.read, frame: accountFrame(account: account)) {
      (engine) throws(LocalCloudStoreError) in
      try engine.account()?.usedBytes ?? 0
    }
  }

  /// Whether a zone exists.
  ///
  /// - Throws: What the store has to say; a ``MemoryStore`` never throws.
  public func hasZone(
    _ zone: ZoneID,
    account: AccountIdentity
  ) throws(LocalCloudStoreError) -> Bool {
    try transaction(.read, frame: frame(device: "", account: account, zoneID: zone)) {
      (engine) throws(LocalCloudStoreError) in
      guard let account = try engine.account() else { return false }
      return try engine.zone(of: account).map { $0.gone == nil } ?? false
    }
  }

  /// The zones of an account, in the order of their names.
  ///
  /// - Throws: What the store has to say; a ``MemoryStore`` never throws.
  public func zones(account: AccountIdentity) throws(LocalCloudStoreError) -> [ZoneID] {
    try transaction(.read, frame: accountFrame(account: account)) {
      (engine) throws(LocalCloudStoreError) in
      guard let account = try engine.account() else { return [] }
      return try engine.zones(of: account).filter { $0.gone == nil }.map(\.zoneID).sorted()
    }
  }

  // MARK: Acting from outside

  /// Deletes a zone with its records and its feed; devices that subscribed to it get a push.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: What the store has to say; a ``MemoryStore`` never throws.
  @discardableResult
  public func deleteZone(
    _ zone: ZoneID,
    account: AccountIdentity,
    reason: ZoneDeletionReason = .deleted
  ) throws(LocalCloudStoreError) -> Bool {
    let frame = frame(device: "", account: account, zoneID: zone)
    let subscribers = try transaction(.write, frame: frame) {
      (engine) throws(LocalCloudStoreError) in
      try engine.deleteZone(reason: reason)
    }
    guard let subscribers else { return false }
    announceChange(frame: frame, to: subscribers)
    return true
  }

  /// Makes all change tokens of a zone's feed void.
  ///
  /// - Throws: What the store has to say; a ``MemoryStore`` never throws.
  public func expireTokens(
    _ zone: ZoneID,
    account: AccountIdentity
  ) throws(LocalCloudStoreError) {
    try transaction(.write, frame: frame(device: "", account: account, zoneID: zone)) {
      (engine) throws(LocalCloudStoreError) in
      guard let account = try engine.account(), var zone = try engine.zone(of: account) else {
        return
      }
      zone.generation += 1
      try engine.set(zone: zone, of: account)
    }
  }

  /// Makes all change tokens of the feed of an account's database void.
  ///
  /// - Throws: What the store has to say; a ``MemoryStore`` never throws.
  public func expireDatabaseTokens(account: AccountIdentity) throws(LocalCloudStoreError) {
    try change(account: account) { $0.generation += 1 }
  }

  /// Sets whether an account can be used, for all its devices; at first it is available.
  ///
  /// - Throws: What the store has to say; a ``MemoryStore`` never throws.
  public func setAccountStatus(
    _ status: AccountStatus,
    account: AccountIdentity
  ) throws(LocalCloudStoreError) {
    try change(account: account) { $0.status = status }
  }

  /// Sets how many bytes an account may hold; nil for what the options say.
  ///
  /// - Throws: What the store has to say; a ``MemoryStore`` never throws.
  public func setQuota(
    _ byteCount: Int64?,
    account: AccountIdentity
  ) throws(LocalCloudStoreError) {
    try change(account: account) { $0.quota = byteCount }
  }

  private func change(
    account: AccountIdentity,
    body: @Sendable (inout AccountDocument) -> Void
  ) throws(LocalCloudStoreError) {
    try transaction(.write, frame: accountFrame(account: account)) {
      (engine) throws(LocalCloudStoreError) in
      var document = try engine.madeAccount()
      body(&document)
      try engine.set(account: document)
    }
  }

  func accountFrame(account: AccountIdentity) -> RequestFrame {
    frame(device: "", account: account, zoneID: ZoneID(name: ZoneID.defaultZoneName))
  }
}

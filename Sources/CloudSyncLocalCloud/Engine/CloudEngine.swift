import CloudSyncCore

/// What a request may know: who asks, for which zone, when, and by which rules.
struct RequestFrame: Sendable {
  var device: String
  var account: AccountIdentity
  var zoneID: ZoneID
  var now: Timestamp
  var options: LocalCloudOptions
  /// How far the history had come when the device was answered last.
  var historyTokens: [ChangeToken] = []
  /// What is wrong with the files of records' assets; looked into, never iterated.
  var assetErrors: [RecordID: SyncError] = [:]
  /// Where the files of all accounts' assets are kept now; nil if they stay where devices have them.
  var assetFolder: String?
}

/// CloudKit's rules, inside one transaction of a store.
///
/// What CloudKit would answer with an error is returned as one; what is thrown is the store's
/// trouble, and undoes the transaction.
struct CloudEngine {
  let store: any LocalCloudTransaction
  let frame: RequestFrame
  let pen: HistoryPen

  var options: LocalCloudOptions { frame.options }

  // MARK: Documents

  func counters() throws(LocalCloudStoreError) -> StoreCounters {
    if case .counters(let counters) = try store.document(StoreCounters.key)?.content {
      return counters
    }
    return StoreCounters(seed: SplitMix64.mix(options.seed))
  }

  func account() throws(LocalCloudStoreError) -> AccountDocument? {
    let document = try store.document(AccountDocument.key(for: frame.account))
    if case .account(let account) = document?.content { return account }
    return nil
  }

  /// Holds the account for a transaction that changes it.
  func lockAccount() throws(LocalCloudStoreError) { try store.lock(.account(frame.account)) }

  /// The account, which comes into being when it is first needed.
  func madeAccount() throws(LocalCloudStoreError) -> AccountDocument {
    if let account = try account() { return account }
    try store.lock(.counters)
    var counters = try storedCounters()
    counters.accounts += 1
    try store.setDocument(StoreDocument(.counters(counters)), for: StoreCounters.key)
    let account = AccountDocument(number: counters.accounts)
    try set(account: account)
    return account
  }

  /// The counters as they are to be kept: with a secret, if the store is a new one.
  func storedCounters() throws(LocalCloudStoreError) -> StoreCounters {
    var counters = try counters()
    guard counters.accounts == 0, counters.secret.isEmpty else { return counters }
    for _ in 0..<4 {
      let number = pen.nonce()
      counters.secret += (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
    return counters
  }

  func set(account: AccountDocument) throws(LocalCloudStoreError) {
    if pen.mark != nil { pen.written = (account.number, account.place(of: frame.account)) }
    try keepMark(of: account)
    try store.setDocument(
      StoreDocument(.account(account)),
      for: AccountDocument.key(for: frame.account)
    )
  }

  func zone(of account: AccountDocument) throws(LocalCloudStoreError) -> ZoneDocument? {
    let key = ZoneDocument.key(account: account.number, zoneID: frame.zoneID)
    if case .zone(let zone) = try store.document(key)?.content { return zone }
    return nil
  }

  /// All zones that the account has or had.
  func zones(of account: AccountDocument) throws(LocalCloudStoreError) -> [ZoneDocument] {
    try store.documents(withPrefix: ZoneDocument.prefix(account: account.number))
      .compactMap { if case .zone(let zone) = $0.document.content { zone } else { nil } }
  }

  func set(zone: ZoneDocument, of account: AccountDocument) throws(LocalCloudStoreError) {
    let key = ZoneDocument.key(account: account.number, zoneID: zone.zoneID)
    try store.setDocument(StoreDocument(.zone(zone)), for: key)
  }

  // MARK: Admission

  /// What keeps the account from being used.
  static func refusal(status: AccountStatus) -> SyncError? {
    switch status {
    case .available: nil
    case .temporarilyUnavailable:
      SyncError(.accountTemporarilyUnavailable, "the account is not ready")
    case .couldNotDetermine, .restricted, .noAccount:
      SyncError(.notAuthenticated, "the account is not signed in")
    }
  }

  /// What is wrong with asking for a zone at all; only private databases are served so far.
  static func refusal(zoneID: ZoneID, asked: ZoneID, toCreate: Bool) -> SyncError? {
    guard zoneID == asked else {
      return SyncError(.invalidArguments, "the request is for the zone \(asked)")
    }
    switch zoneID.scope {
    case .public: return SyncError(.badDatabase, "the public database has no zones to synchronize")
    case .shared where toCreate:
      return SyncError(.badDatabase, "zones are not created in the shared database")
    case .shared: return SyncError(.zoneNotFound, "nobody shares the zone \(zoneID)")
    case .private: break
    }
    do throws(RecordRuleViolation) { try RecordRules.check(zoneID) } catch {
      return SyncError(.invalidArguments, "\(error)")
    }
    guard UTF8Bytes.equal(zoneID.owner, ZoneID.currentUser) else {
      return SyncError(.invalidArguments, "a private database has no zones of others")
    }
    return nil
  }

  /// The account and the zone of a request, or why it is refused.
  func admitted() throws(LocalCloudStoreError) -> Result<
    (account: AccountDocument, zone: ZoneDocument), SyncError
  > {
    let account = try account()
    if let error = Self.refusal(status: account?.status ?? .available) { return .failure(error) }
    if let error = Self.refusal(zoneID: frame.zoneID, asked: frame.zoneID, toCreate: false) {
      return .failure(error)
    }
    guard let account, let zone = try zone(of: account) else {
      return .failure(SyncError(.zoneNotFound, "there is no zone \(frame.zoneID)"))
    }
    switch zone.gone {
    case nil: return .success((account, zone))
    case .deleted: return .failure(SyncError(.zoneNotFound, "the zone was deleted"))
    case .purged: return .failure(SyncError(.userDeletedZone, "the user deleted the zone"))
    case .encryptedDataReset:
      return .failure(
        SyncError(.zoneNotFound, "the encrypted data were reset", isEncryptedDataReset: true)
      )
    }
  }

  // MARK: Zones

  /// Creates the zone; one that exists stays as it is.
  func createZone() throws(LocalCloudStoreError) -> Result<Bool, SyncError> {
    var account = try madeAccount()
    if let error = Self.refusal(status: account.status) { return .failure(error) }
    let old = try zone(of: account)
    if let old, old.gone == nil { return .success(true) }
    // A zone that is gone is still told about in the feed of the database.
    if old == nil, let limit = options.zoneLimit, try zones(of: account).count >= limit {
      return .failure(SyncError(.limitExceeded, "an account has at most \(limit) zones"))
    }
    try store.lock(.counters)
    var counters = try counters()
    counters.zones += 1
    guard (counters.zones + 1) >> (63 - StoredZoneKey.positionBits) == 0 else {
      throw LocalCloudStoreError(.limitReached, "the store has had too many zones")
    }
    try store.setDocument(StoreDocument(.counters(counters)), for: StoreCounters.key)
    account = try marked(account)
    account.position += 1
    try set(account: account)
    var zone = ZoneDocument(number: counters.zones, zoneID: frame.zoneID)
    zone.databasePosition = account.position
    try set(zone: zone, of: account)
    return .success(true)
  }

  /// Lets the device hear of changes by others.
  func createSubscription() throws(LocalCloudStoreError) -> Result<Bool, SyncError> {
    switch try admitted() {
    case .failure(let error): return .failure(error)
    case .success(let (account, found)):
      var zone = found
      let place = zone.subscribers.firstPlace { UTF8Bytes.order($0, frame.device) < 0 }
      if place < zone.subscribers.count, UTF8Bytes.equal(zone.subscribers[place], frame.device) {
        return .success(true)
      }
      zone.subscribers.insert(frame.device, at: place)
      try set(zone: zone, of: account)
      return .success(true)
    }
  }

  /// Deletes the zone with its records and its feed; the feed of the database tells why.
  ///
  /// Returns the devices that are to hear of it; nil where there is no zone.
  func deleteZone(reason: ZoneDeletionReason) throws(LocalCloudStoreError) -> [String]? {
    guard var account = try account(), var zone = try zone(of: account), zone.gone == nil else {
      return nil
    }
    let subscribers = zone.subscribers
    try store.removeItems(in: zone.key)
    account = try marked(account)
    account.position += 1
    account.usedBytes = max(0, account.usedBytes - zone.usedBytes)
    try set(account: account)
    zone.gone = reason
    zone.usedBytes = 0
    zone.subscribers = []
    zone.databasePosition = account.position
    try set(zone: zone, of: account)
    return subscribers
  }
}

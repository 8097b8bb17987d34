import CloudSyncCore

extension CloudEngine {
  /// One page of the zone's feed, or records by name.
  func fetch(
    _ operation: FetchOperation
  ) throws(LocalCloudStoreError) -> Result<FetchOperation.Response, SyncError> {
    switch try admitted() {
    case .failure(let error): return .failure(error)
    case .success(let (account, zone)):
      if let error = try lostHistory(of: account) { return .failure(error) }
      return operation.isLookup
        ? try lookUp(recordIDs: operation.recordIDs, in: zone, of: account)
        : try page(of: zone, in: account, after: operation.changeToken)
    }
  }

  private func lookUp(
    recordIDs: [RecordID],
    in zone: ZoneDocument,
    of account: AccountDocument
  ) throws(LocalCloudStoreError) -> Result<FetchOperation.Response, SyncError> {
    if recordIDs.count > options.itemLimit {
      return .failure(SyncError(.limitExceeded, "a request has at most \(options.itemLimit) items"))
    }
    try store.prefetch(names: recordIDs.map(\.name), in: zone.key)
    var response = FetchOperation.Response(changeToken: nil)
    var bytesLeft = max(1, options.pageByteLimit)
    for recordID in recordIDs {
      // Of the rest nothing is said: whoever wants them asks again.
      if bytesLeft <= 0 { break }
      do throws(RecordRuleViolation) { try RecordRules.check(recordID, zone: zone.zoneID) } catch {
        response.failures.append(ItemFailure(recordID, SyncError(.invalidArguments, "\(error)")))
        continue
      }
      if let record = try store.item(named: recordID.name, in: zone.key)?.record {
        response.changedRecords.append(located(record))
        bytesLeft -= record.byteCount
      } else {
        let error = SyncError(.unknownItem, "there is no such record")
        response.failures.append(ItemFailure(recordID, error))
      }
    }
    response.historyToken = try historyToken(of: account, zone)
    return .success(response)
  }

  private func page(
    of zone: ZoneDocument,
    in account: AccountDocument,
    after token: ChangeToken?
  ) throws(LocalCloudStoreError) -> Result<FetchOperation.Response, SyncError> {
    if UTF8Bytes.equal(zone.zoneID.name, ZoneID.defaultZoneName) {
      return .failure(SyncError(.invalidArguments, "the default zone has no feed of changes"))
    }
    let counters = try counters()
    let seal = counters.tokenSeal
    var place = start(of: zone, in: account, branch: counters.branch)
    if let token {
      switch try self.place(of: token, like: place, last: zone.lastPosition, in: account, seal) {
      case .failure(let error): return .failure(error)
      case .success(let found): place = found
      }
    }
    if place.position < zone.lastPosition, place.emptyPages < Int64(options.emptyPages) {
      place.emptyPages += 1
      var response = FetchOperation.Response(changeToken: place.token(seal), hasMore: true)
      response.historyToken = response.changeToken
      return .success(response)
    }
    let items = try store.items(
      in: zone.key,
      after: place.position,
      limit: max(1, options.pageSize),
      byteLimit: max(1, options.pageByteLimit)
    )
    var response = FetchOperation.Response(changeToken: nil)
    response.changedRecords.reserveCapacity(items.count)
    for item in items {
      switch item.content {
      case .record(let record): response.changedRecords.append(located(record))
      case .tombstone(let recordID, let recordType):
        let type = options.tellsDeletedTypes ? recordType : nil
        response.deletedRecords.append(DeletedRecord(recordID: recordID, recordType: type))
      }
    }
    if let last = items.last, last.position != place.position {
      place.position = last.position
      place.emptyPages = 0
    }
    response.changeToken = place.token(seal)
    response.historyToken = response.changeToken
    response.hasMore = place.position < zone.lastPosition
    return .success(response)
  }

  /// Where a zone's feed begins.
  func start(of zone: ZoneDocument, in account: AccountDocument, branch: UInt64) -> FeedToken {
    FeedToken(
      feed: .zone,
      zoneHash: zone.zoneID.stableHash,
      number: zone.number,
      generation: zone.generation,
      branch: branch,
      history: account.place(of: frame.account)
    )
  }

  /// What a token stands for, if it is one of this feed and still good.
  ///
  /// One of another account's feed is answered like one that nobody was given, so that nobody learns what there is. Neither
  /// is said to be too old: a device that has got to another cloud would begin anew there, and delete what that lacks.
  private func place(
    of token: ChangeToken,
    like start: FeedToken,
    last: Int64,
    in account: AccountDocument?,
    _ seal: TokenSeal
  ) throws(LocalCloudStoreError) -> Result<FeedToken, SyncError> {
    guard var place = FeedToken(token, sealedBy: seal), place.feed == start.feed,
      place.zoneHash == start.zoneHash,
      place.history.account == start.history.account || place.history.index == 0
    else { return .failure(.foreignToken) }
    let expired = SyncError(.changeTokenExpired, "the change token is too old")
    // What the store has lost, devices may still have: an expired token would have them delete it.
    guard place.branch == start.branch else {
      return .failure(start.feed == .zone ? Self.lostHistory : expired)
    }
    // From a time that the store knows nothing of: it was put back, and nobody has renewed it.
    if let account, try holds(place.history, in: account) == false {
      return .failure(start.feed == .zone ? Self.lostHistory : expired)
    }
    // One of a zone that is gone, of another account's, or one that was made void.
    guard place.number == start.number, place.generation == start.generation, place.position >= 0
    else { return .failure(expired) }
    guard place.position <= last else {
      return .failure(start.feed == .zone ? Self.lostHistory : expired)
    }
    place.history = start.history
    return .success(place)
  }

  static var lostHistory: SyncError {
    SyncError(
      .zoneNotFound,
      "the store was restored from a backup; upload again what it lacks",
      isEncryptedDataReset: true
    )
  }

  // MARK: The feed of the database

  /// One page of what happened to the zones of the account.
  func databaseChanges(
    since token: ChangeToken?
  ) throws(LocalCloudStoreError) -> Result<DatabaseChanges, SyncError> {
    let account = try account()
    if let error = Self.refusal(status: account?.status ?? .available) { return .failure(error) }
    let counters = try counters()
    let seal = counters.tokenSeal
    var place = FeedToken(
      feed: .database,
      number: account?.number ?? 0,
      generation: account?.generation ?? 0,
      branch: counters.branch,
      history: account?.place(of: frame.account) ?? HistoryPlace()
    )
    if let token {
      let last = account?.position ?? 0
      switch try self.place(of: token, like: place, last: last, in: account, seal) {
      case .failure(let error): return .failure(error)
      case .success(let found): place = found
      }
    }
    let (zones, hasMore) = try changedZones(of: account, after: place.position)
    var changed: [ZoneID] = []
    var deleted: [DeletedZone] = []
    for zone in zones {
      if let reason = zone.gone {
        deleted.append(DeletedZone(zoneID: zone.zoneID, reason: reason))
      } else {
        changed.append(zone.zoneID)
      }
    }
    if let last = zones.last { place.position = last.databasePosition }
    place.variation =
      options.variesDatabaseTokens
      ? SplitMix64.mix(UInt64(bitPattern: frame.now.nanoseconds)) : 0
    guard let next = place.token(seal) else {
      return .failure(SyncError(.internalError, "no change token can be made"))
    }
    return .success(
      DatabaseChanges(
        changedZoneIDs: changed,
        deletedZones: deleted,
        changeToken: next,
        hasMore: hasMore
      )
    )
  }

  /// The zones that changed after a position, by the position of their last change.
  private func changedZones(
    of account: AccountDocument?,
    after position: Int64
  ) throws(LocalCloudStoreError) -> (zones: [ZoneDocument], hasMore: Bool) {
    guard let account else { return ([], false) }
    var zones: [ZoneDocument] = []
    for zone in try self.zones(of: account) where zone.databasePosition > position {
      zones.append(zone)
    }
    zones.sort { $0.databasePosition < $1.databasePosition }
    let limit = max(1, options.pageSize)
    return (Array(zones.prefix(limit)), zones.count > limit)
  }
}

/// Decides about every item of a response, and about what the response means for the session.
struct ItemResultClassifier {
  let resolver: ConflictResolver
  let context: MiddlewareContext
  /// Whether the request had one item only.
  let isAlone: Bool
  let isLookup: Bool
  /// What nobody is to blame for: nothing moved, and the response does not say why.
  private(set) var unexplainedError: SyncError?
  private var settlement = Settlement()
  /// Whether every item of the response says that the cloud cannot be reached or has no time.
  private var isCloudAway = false
  /// The place of the last item that the cloud has done something with, or -1: if there is one, somebody is signed in.
  private var lastDone = -1
  /// Whether the cloud has done something with an item behind the one that is looked at.
  private var isPassedOver = false
  /// Whether other records are done whose operations wait for those of the request.
  private var isHoldingBack = false

  init(
    resolver: ConflictResolver,
    context: MiddlewareContext,
    isAlone: Bool,
    isLookup: Bool
  ) {
    self.resolver = resolver
    self.context = context
    self.isAlone = isAlone
    self.isLookup = isLookup
  }

  /// The verdicts for all entries of a request.
  mutating func settle(
    entries: [PendingChange],
    answers: ItemResults,
    error: SyncError?
  ) -> Settlement {
    settlement.error = error
    settlement.verdicts.reserveCapacity(entries.count)
    isCloudAway = entries.allSatisfy { isAway(answer: answers[$0.recordID]) }
    lastDone = entries.lastIndex { isDone(entry: $0, answer: answers[$0.recordID]) } ?? -1
    isHoldingBack =
      isCloudAway
      && context.state.modify.open.contains { $0.left < $0.operation.itemCount }
    var isStuck = true
    for (place, entry) in entries.enumerated() {
      isPassedOver = place < lastDone
      let verdict =
        isLookup ? lookedUp(entry: entry, answers: answers) : verdict(on: entry, answers: answers)
      if case .stay = verdict {} else { isStuck = false }
      settlement.verdicts.append(verdict)
    }
    if let asked = error?.serverWait { wait(wait: asked) }
    let isExplained =
      settlement.zone != nil || settlement.account != nil || settlement.halt != nil
      || settlement.isTooLarge
    if isStuck, !isExplained { explain(entries, answers: answers, error: error) }
    return settlement
  }

  private func isDone(entry: PendingChange, answer: ItemResults.Answer) -> Bool {
    switch answer {
    case .saved: entry.edit != nil
    case .deleted: entry.edit == nil
    case .failed, .none: false
    }
  }

  private func isAway(answer: ItemResults.Answer) -> Bool {
    guard case .failed(let error) = answer else { return false }
    let kind: OperationMode = isLookup ? .fetch : .modify
    switch ErrorTable.disposition(of: error.code, for: kind, in: .item) {
    case .retryNetwork, .retryService: return true
    default: return false
    }
  }

  /// Nothing moved and nobody is to blame.
  ///
  /// A server that asks to wait is enough of an explanation, unless it does so again and again. Otherwise the culprit is searched for
  /// among several items, and a single one is charged, so that it cannot go on for ever.
  private mutating func explain(
    _ entries: [PendingChange],
    answers: ItemResults,
    error: SyncError?
  ) {
    if settlement.wait?.serverNanoseconds != nil, context.mayBeAskedToWait { return }
    countEverything(entries: entries, answers: answers, error: error)
    if !isAlone, !isLookup {
      var culprit =
        error ?? SyncError(.invalidResponse, "the response says nothing about the request")
      culprit.retryAfterNanoseconds =
        settlement.wait?.serverNanoseconds ?? culprit.retryAfterNanoseconds
      unexplainedError = culprit
    }
  }

  /// Charges every item.
  private mutating func countEverything(
    entries: [PendingChange],
    answers: ItemResults,
    error: SyncError?
  ) {
    let silence =
      error ?? SyncError(.invalidResponse, "the response says nothing about the request")
    settlement.verdicts = entries.map { entry in
      if case .failed(let own) = answers[entry.recordID] { return .again(own, counted: true) }
      return .again(silence, counted: true)
    }
    settlement.wait = settlement.wait ?? Wait(.transient)
  }

  private mutating func verdict(on entry: PendingChange, answers: ItemResults) -> ItemVerdict {
    switch answers[entry.recordID] {
    case .saved(let record): entry.edit == nil ? leftOut() : .saved(record)
    case .deleted: entry.edit == nil ? .deleted : leftOut()
    case .none: leftOut()
    case .failed(let error): verdict(on: entry, error: error)
    }
  }

  /// An item of which the response says nothing, or not why it was left alone.
  ///
  /// Where the cloud has done something with an item behind it, that is this item's own trouble: it is charged, and
  /// must not hold back the others' completions for ever. A response may also end in the middle of the request; what is
  /// behind is sent again, and comes to the front.
  private func leftOut(_ error: SyncError? = nil) -> ItemVerdict {
    guard isPassedOver else { return .stay }
    let silence = SyncError(.invalidResponse, "the responses say nothing about the record")
    return .again(error ?? silence, counted: true)
  }

  /// A record that was looked up after a conflict.
  private mutating func lookedUp(entry: PendingChange, answers: ItemResults) -> ItemVerdict {
    switch answers[entry.recordID] {
    case .saved(let server):
      return conflict(entry: entry, error: SyncError(.serverRecordChanged, serverRecord: server))
    case .deleted:
      return missing(entry, error: SyncError(.unknownItem, "the record does not exist"))
    case .failed(let error) where error.code == .unknownItem: return missing(entry, error: error)
    case .failed(let error): return notLookedUp(entry, error: error)
    case .none: return .lookUp
    }
  }

  private mutating func notLookedUp(_ entry: PendingChange, error: SyncError) -> ItemVerdict {
    let found = ErrorTable.disposition(of: error.code, for: .fetch, in: .item)
    switch found {
    case .waitForAccount: return withoutAccount(error)
    case .createZone, .askAboutZone:
      settlement.zone = error.zoneLoss
      return .stay
    default:
      wait(wait: error.wait(disposition: found))
      return .again(error, counted: isCharged(entry: entry, for: found))
    }
  }

  private mutating func verdict(on entry: PendingChange, error: SyncError) -> ItemVerdict {
    // Whatever is done about an item, a wait that the server asks for is kept.
    if let asked = error.serverWait { wait(wait: asked) }
    let found = ErrorTable.disposition(of: error.code, for: .modify, in: .item)
    switch found {
    case .retryNetwork, .retryService, .retryTransient, .resendUnchanged:
      // A record that is only tried again now and then does not make the others wait.
      if entry.probes == 0 { wait(wait: error.wait(disposition: found)) }
      return .again(error, counted: isCharged(entry: entry, for: found))
    case .split, .isolate:
      if isAlone { return .park(error) }
      settlement.isTooLarge = true
      return .stay
    case .resolveConflict: return conflict(entry: entry, error: error)
    case .recordMissing: return missing(entry, error: error)
    case .stay: return leftOut(error)
    case .waitForQuota:
      if entry.edit != nil { return .parkForQuota(error) }
      // A deletion needs no storage: a cloud that says so all the same is asked again.
      return charged(error)
    case .waitForAccount: return withoutAccount(error)
    case .createZone, .askAboutZone:
      // As with an account: a zone in which the cloud has just saved something is not gone. So it is of one that was
      // refused so beside others, and is alone now.
      if lastDone >= 0 || (isAlone && entry.failures > 0) { return charged(error) }
      settlement.zone = error.zoneLoss
      return .stay
    case .park, .unwrap, .halt, .startOver, .failFetch, .giveUpSubscription: return .park(error)
    }
  }

  /// An item for which the cloud says that nobody is signed in.
  ///
  /// Where it has done something with another item of the same request, that is this item's own trouble, and must
  /// not stop everybody: it is charged. If the account went in the middle of the request, the next one says so.
  private mutating func withoutAccount(_ error: SyncError) -> ItemVerdict {
    if lastDone >= 0 { return charged(error) }
    settlement.account = error.accountTrouble
    return .stay
  }

  /// An item that is sent again after a pause, and charged.
  private mutating func charged(_ error: SyncError) -> ItemVerdict {
    wait(wait: Wait(.transient))
    return .again(error, counted: true)
  }

  /// Whether an item is charged for a failure that passes.
  ///
  /// A network that is away and a service that asks to wait have no count. But if they are away for
  /// some items only, that is these items' own trouble, and must not hold back the others for ever. It
  /// is charged
  /// - if the cloud has done something with another item of the request,
  /// - if it has answered another request since it refused the item last; the next request is of other
  ///   items, if there are any,
  /// - if these cannot be sent because an item of this request goes before them,
  /// - if a service refuses it, and others that are done wait for its operation to complete.
  private func isCharged(entry: PendingChange, for found: ErrorDisposition) -> Bool {
    guard found == .retryNetwork || found == .retryService, isCloudAway else { return true }
    let state = context.state
    return state.modify.areOthersBlocked || (found == .retryService && isHoldingBack)
      || (entry.refusedAt > 0 && state.answered > entry.refusedAt)
  }

  /// Keeps the longest of the waits that items ask for.
  private mutating func wait(wait: Wait) {
    guard let present = settlement.wait else { return settlement.wait = wait }
    if (wait.serverNanoseconds ?? 0) > (present.serverNanoseconds ?? 0) { settlement.wait = wait }
  }

  // MARK: Conflicts

  private mutating func conflict(entry: PendingChange, error: SyncError) -> ItemVerdict {
    guard let edit = entry.edit else { return charged(error) }
    guard let server = error.serverRecord, server.recordID == entry.recordID else { return .lookUp }
    // The response to an earlier attempt was lost. Otherwise somebody else had the same idea, and only
    // the resolver knows whether two of them are more than one.
    if entry.isInDoubt, context.findsInCloud(entry.recordID, where: { server.contains(edit: edit) })
    {
      return .alreadyThere(server)
    }
    let conflict = Conflict(
      client: edit,
      server: server,
      ancestor: context.ancestor(of: entry, editing: edit, inCloud: server)
        ?? error.ancestorRecord
    )
    let resolver = resolver
    guard
      case .conflict(_, let resolution) = context.decide({
        .conflict(entry.recordID, resolver.resolve(conflict))
      })
    else { return .park(error) }
    return resolved(resolution: resolution, conflict: conflict, error: error)
  }

  private mutating func resolved(
    resolution: ConflictResolution,
    conflict: Conflict,
    error: SyncError
  ) -> ItemVerdict {
    var parked = error
    parked.serverRecord = conflict.server
    parked.clientRecord = conflict.client
    parked.ancestorRecord = conflict.ancestor
    switch resolution {
    case .save(let record):
      let isThere = context.findsInCloud(conflict.client.recordID) {
        conflict.server.contains(edit: record)
      }
      return isThere
        ? .alreadyThere(conflict.server) : .resolved(record, server: conflict.server)
    case .park:
      parked.code = .parkedByResolver
      return .park(parked)
    case .later:
      parked.code = .awaitsAppEdit
      return .park(parked)
    case .halt:
      parked.code = .conflictUnresolved
      parked.message = "the conflict resolver did not resolve the conflict"
      settlement.halt = parked
      return .stay
    }
  }

  /// A record that the cloud does not have.
  private func missing(_ entry: PendingChange, error: SyncError) -> ItemVerdict {
    guard let edit = entry.edit else { return .deleted }
    // Without a change tag it was new already: to send it once more would change nothing.
    guard edit.changeTag != nil || isLookup,
      context.state.configuration.missingRecordPolicy == .recreate
    else { return .park(error) }
    // Fields of the server's that the app never gave went with the record.
    return .recreate(edit.withChangeTag(nil))
  }
}

extension SyncError {
  /// The pause that the error asks for.
  func wait(disposition: ErrorDisposition) -> Wait {
    if let serverWait { return serverWait }
    return switch disposition {
    case .retryNetwork: Wait(.network)
    case .retryService: Wait(.service)
    case .resendUnchanged: Wait(.lostResponse)
    default: Wait(.transient)
    }
  }

  /// The pause that the server asks for, if it does.
  var serverWait: Wait? {
    guard let length = retryAfterNanoseconds, length > 0 else { return nil }
    return Wait(.service, serverNanoseconds: length)
  }

  /// What the error says about the account.
  var accountTrouble: AccountTrouble {
    code == .accountTemporarilyUnavailable ? .temporarilyUnavailable : .signedOut
  }

  /// What the error says about the zone.
  var zoneLoss: ZoneLoss {
    if isEncryptedDataReset { return .encryptedDataReset }
    return code == .userDeletedZone ? .purged : .missing
  }
}

extension FetchOperation.Response {
  /// The longest pause that the server asks for because of a record of the page.
  var serverWait: Wait? {
    failures.isEmpty
      ? nil
      : failures.compactMap(\.error.serverWait)
        .max { ($0.serverNanoseconds ?? 0) < ($1.serverNanoseconds ?? 0) }
  }

  /// The page with the records that break a rule among its failures; nil if there are none.
  func withBrokenRecordsSetAside(zoneID: ZoneID) -> Self? {
    var broken: [Int: SyncError] = [:]
    for (index, record) in changedRecords.enumerated() {
      do throws(RecordRuleViolation) {
        try RecordRules.checkFetched(record, zone: zoneID)
      } catch {
        broken[index] = SyncError(.invalidRecord, error.description)
      }
    }
    guard !broken.isEmpty else { return nil }
    var page = self
    page.changedRecords = []
    for (index, record) in changedRecords.enumerated() {
      if let error = broken[index] {
        page.failures.append(ItemFailure(record.recordID, error))
      } else {
        page.changedRecords.append(record)
      }
    }
    return page
  }
}

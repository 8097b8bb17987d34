/// What a session may be told about how to work: limits, budgets, policies.
///
/// It is part of the state, because the reduction depends on it. A session checks it when it is made
/// and traps if ``problem`` names anything: the values are the programmer's, not the user's.
public struct SyncConfiguration: Sendable {
  /// How much one request may hold; by default what the handler says.
  public var limits: RequestLimits?
  /// How long a response is waited for before it counts as lost: 5 minutes; at least a millisecond.
  public var timeout: Duration = .seconds(300)
  /// The first of the growing waits: 1 second; at least a millisecond.
  public var firstWait: Duration = .seconds(1)
  /// The longest of the session's own waits: 10 minutes; at least the first.
  public var longestWait: Duration = .seconds(600)
  /// How often in a row one edit may conflict before it is parked: 5.
  public var conflictBudget = 5
  /// How often one record may fail in passing before it is parked: 5.
  public var failureBudget = 5
  /// How often a response to a modification may be lost although the cloud answers other requests,
  /// before the request is halved: 8.
  public var lostResponseBudget = 8
  /// What becomes of records that are refused: the session parks them by default.
  public var refusedItems = RefusedItems.park
  /// How often the zone may be created without any other success before the session halts: 5.
  public var zoneBudget = 5
  /// How many records in a row may be parked before the session halts: 100.
  public var parkingBudget = 100
  /// How many pages in a row may bring the same change token before the session halts: 3.
  public var stuckTokenBudget = 3
  /// How many pages one fetch may have before the session halts: 100,000.
  public var pageBudget = 100_000
  /// Whether the next page waits until the app has acknowledged this one; so do other fetches that end with it.
  public var acknowledgesPages = false
  /// What happens when a zone is lost.
  public var zonePolicy = ZonePolicy()
  /// What happens to an edit of a record that the cloud no longer has.
  public var missingRecordPolicy = MissingRecordPolicy.recreate

  /// Creates the default configuration.
  public init() {}
}

/// What becomes of a record that is refused, or out of a budget.
public enum RefusedItems: Int, Sendable, CaseIterable {
  /// The session keeps it parked: retried, merged with a later edit or dropped as the app says.
  case park
  /// The session forgets it, and its operation hands it back among the failures: for a storage layer
  /// that keeps what is pending by itself.
  ///
  /// An edit keeps the change tag that it was submitted with, also if this session has saved the record
  /// since: the storage layer makes each from what it knows of the record.
  ///
  /// One that was sent before, and whose response was lost then, may be in the cloud whatever it is refused for: the next
  /// fetch tells.
  ///
  /// A deletion whose response was lost is handed back too, with ``SyncError/Code/outcomeUnknown``,
  /// instead of being repeated: the storage layer fetches, and decides then.
  case handBack

  package static let codedNames: [StaticString] = ["park", "handBack"]
}

extension SyncConfiguration {
  /// What is wrong with the values, if anything: the first property that cannot be worked with, why,
  /// and what to give it.
  public var problem: String? {
    if let limits, limits.items < 1 || limits.bytes < 1 {
      return "limits is \(limits.items) items and \(limits.bytes) bytes: allow at least one of each"
    }
    // Less would be calls without end, as fast as the device can make them.
    let shortest = Duration.milliseconds(1)
    if timeout < shortest { return "timeout is \(timeout): give it at least \(shortest)" }
    if firstWait < shortest { return "firstWait is \(firstWait): give it at least \(shortest)" }
    if longestWait < firstWait {
      return "longestWait is \(longestWait): give it at least firstWait, \(firstWait)"
    }
    let budgets = [
      ("conflictBudget", conflictBudget, 0), ("failureBudget", failureBudget, 0),
      ("lostResponseBudget", lostResponseBudget, 1),
      ("zoneBudget", zoneBudget, 1), ("parkingBudget", parkingBudget, 1),
      ("stuckTokenBudget", stuckTokenBudget, 1), ("pageBudget", pageBudget, 1),
    ]
    for (name, value, least) in budgets where value < least {
      return "\(name) is \(value): give it at least \(least)"
    }
    return nil
  }

  /// Traps if something is wrong with the values.
  func check() {
    let problem = problem
    precondition(problem == nil, "SyncConfiguration.\(problem ?? "")")
  }
}

extension SyncConfiguration: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    limits = try coder.field("limits") { $0.limits }
    timeout = .nanoseconds(try coder.field("timeout") { $0.timeout.clampedNanoseconds })
    firstWait = .nanoseconds(try coder.field("firstWait") { $0.firstWait.clampedNanoseconds })
    longestWait = .nanoseconds(try coder.field("longestWait") { $0.longestWait.clampedNanoseconds })
    conflictBudget = try coder.field("conflictBudget") { $0.conflictBudget }
    failureBudget = try coder.field("failureBudget") { $0.failureBudget }
    lostResponseBudget = try coder.field("lostResponseBudget") { $0.lostResponseBudget }
    refusedItems = try coder.field("refusedItems") { $0.refusedItems }
    zoneBudget = try coder.field("zoneBudget") { $0.zoneBudget }
    parkingBudget = try coder.field("parkingBudget") { $0.parkingBudget }
    stuckTokenBudget = try coder.field("stuckTokenBudget") { $0.stuckTokenBudget }
    pageBudget = try coder.field("pageBudget") { $0.pageBudget }
    acknowledgesPages = try coder.field("acknowledgesPages") { $0.acknowledgesPages }
    zonePolicy = try coder.field("zonePolicy") { $0.zonePolicy }
    missingRecordPolicy = try coder.field("missingRecordPolicy") { $0.missingRecordPolicy }
    try coder.check { problem }
  }
}

extension RefusedItems: CodedTag {}

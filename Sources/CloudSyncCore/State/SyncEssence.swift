#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a session has learnt besides its work: a small value for a storage layer that has a queue of
/// its own and keeps no journal.
///
/// It holds the account that the work belongs to and the decisions that are open, what is known of
/// zone and subscription, how long the server has asked to wait, how much one request may hold, and
/// why the session was halted. It holds nothing that is queued, in flight, parked or announced: what
/// the storage layer has not seen completed it submits again.
///
/// Store it whenever it changes, before acting on what the session announces:
///
/// ```swift
/// let session = CloudSyncSession(restoring: store.essence, operationHandler: handler)
/// store.essence = session.state.essence  // a new epoch, before anything is sent
/// session.statePublisher.map(\.essence).sink { essence in
///   if essence != store.essence { store.essence = essence }
/// }
/// ```
public struct SyncEssence: Sendable {
  /// The zone that the session keeps in sync.
  public let zoneID: ZoneID
  /// The session's epoch; a session that is restored begins a higher one.
  public let epoch: UInt64
  /// The account that the work belongs to, once a provider has named it.
  public let accountOwner: AccountIdentity?
  /// The account that signed in instead, while the app has not decided about the work.
  public let accountNewcomer: AccountIdentity?
  /// What is known of the zone.
  public let zoneState: ZoneState
  /// What is known of the subscription.
  public let subscriptionState: SubscriptionState
  /// Why the session was halted, if an error has done it; nil after `stop()`.
  public let halt: HaltReason?
  /// Until when nothing may be sent because the server asked for it.
  package let serverWait: Deadline?
  /// How often in a row the server has asked for it.
  package let serverRetries: Int
  /// The most items that the cloud took lately, if it is less than the limits say.
  package let learntLimit: Int?
}

extension SyncEssence {
  /// The version of the bytes.
  private static let formatVersion: UInt64 = 1

  /// The essence of a state.
  init(of state: SyncState) {
    zoneID = state.zoneID
    epoch = state.epoch
    if case .switched(let owner, let newcomer) = state.account.status {
      accountOwner = owner
      accountNewcomer = newcomer
    } else {
      accountOwner = state.account.owner
      accountNewcomer = nil
    }
    zoneState = state.zoneState
    subscriptionState = state.subscriptionState
    halt = state.haltReason.flatMap { $0.error.code == .stopped ? nil : $0 }
    serverWait = state.gate.servers
    serverRetries = state.gate.retries[.service]
    learntLimit = state.sizing.learnt
  }

  /// Reads what ``data`` gave.
  ///
  /// - Throws: An error that says what is wrong with the bytes.
  public init(_ data: Data) throws(CodedError) {
    var reader = BinaryReader([UInt8](data))
    let version = try reader.readUInt64()
    guard version == Self.formatVersion else {
      throw reader.failure(
        "the essence has version \(version), this package reads \(Self.formatVersion)"
      )
    }
    try self.init(from: &reader)
    guard reader.isAtEnd else { throw reader.failure("bytes are left over") }
  }

  /// The essence of a session that begins anew, for an owner or nobody: zone, account and decisions are
  /// forgotten; the epoch goes on, if need be with a number that is given, and so does a wait that the server has asked the
  /// same owner for.
  package func renewed(owner: AccountIdentity?, epoch: UInt64? = nil) -> SyncEssence {
    var state = SyncState(
      zoneID: zoneID,
      configuration: SyncConfiguration(),
      nonce: 0
    )
    state.epoch = epoch ?? self.epoch
    state.account.owner = owner
    if owner == accountOwner { state.gate.servers = serverWait }
    return SyncEssence(of: state)
  }

  /// The value as bytes: some hundred, or fewer.
  public var data: Data {
    var writer = BinaryWriter()
    writer.write(Self.formatVersion)
    write(to: &writer)
    return Data(writer.bytes)
  }
}

extension SyncState {
  /// What a storage layer with a queue of its own stores instead of a journal.
  ///
  /// - Complexity: O(1).
  public var essence: SyncEssence { SyncEssence(of: self) }

  /// Creates the state of a session that goes on from an essence, in a new epoch.
  ///
  /// - Parameters:
  ///   - essence: What an earlier session has left.
  ///   - configuration: Limits, budgets and policies.
  ///   - nonce: Where everything that must look random comes from; another one for each session.
  public init(restoring essence: SyncEssence, configuration: SyncConfiguration, nonce: UInt64) {
    self.init(zoneID: essence.zoneID, configuration: configuration, nonce: nonce)
    epoch = essence.epoch + 1
    // Numbers of pages ascend over restarts, and nobody counts them but the sessions themselves.
    fetch.nextPage = epoch << 32 | 1
    account.owner = essence.accountOwner
    if let owner = essence.accountOwner, let newcomer = essence.accountNewcomer {
      account.status = .switched(from: owner, to: newcomer)
    }
    zone.zone = essence.zoneState
    zone.subscription = essence.subscriptionState
    if let halt = essence.halt { phase = .stopped(halt) }
    gate.servers = essence.serverWait
    if essence.serverWait != nil { gate.cause = .service }
    gate.retries[.service] = essence.serverRetries
    sizing.learnt = essence.learntLimit
  }
}

extension SyncEssence: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    zoneID = try coder.field("zoneID") { $0.zoneID }
    epoch = try coder.number("epoch") { $0.epoch }
    accountOwner = try coder.field("accountOwner") { $0.accountOwner }
    accountNewcomer = try coder.field("accountNewcomer") { $0.accountNewcomer }
    zoneState = try coder.field("zoneState") { $0.zoneState }
    subscriptionState = try coder.field("subscriptionState") { $0.subscriptionState }
    halt = try coder.field("halt") { $0.halt }
    serverWait = try coder.field("serverWait") { $0.serverWait }
    serverRetries = try coder.amount("serverRetries") { $0.serverRetries }
    learntLimit = try coder.optionalAmount("learntLimit") { $0.learntLimit }
    // Page numbers are made of it.
    try coder.check { epoch >= 1 << 29 ? "the epoch \(epoch) cannot be counted on" : nil }
    try coder.check {
      learntLimit.map { $0 < 1 } == true ? "requests of no items were learnt" : nil
    }
    try coder.check { serverRetries < 0 ? "\(serverRetries) retries are counted" : nil }
  }
}

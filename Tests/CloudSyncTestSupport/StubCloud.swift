#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

package import CloudSyncCore

/// A small cloud in memory: one zone with change tags, a feed of changes and faults on demand.
///
/// It merges by field, refuses a save whose change tag is not the record's, stores a request wholly
/// or not at all when it is atomic, and answers a write token that it knows as it did first. It
/// answers at once, on the caller's thread, or after a delay of the virtual world. Nothing in it is
/// random: the same calls and the same faults give the same answers and the same change tags.
///
/// ```swift
/// let cloud = StubCloud(in: world) { number, _ in number == 3 ? .lostAfter : nil }
/// ```
///
/// What a session must never do is noted in ``violations``: check that it is empty.
package final class StubCloud: OperationHandler {
  /// One operation that the cloud was asked for.
  package enum Operation: Sendable, Hashable {
    case createZone
    case createSubscription
    case modify(ModifyOperation)
    case fetch(FetchOperation)

    package var mode: OperationMode {
      switch self {
      case .createZone: .createZone
      case .createSubscription: .createSubscription
      case .modify: .modify
      case .fetch: .fetch
      }
    }
  }

  /// What goes wrong with a call.
  package enum Fault: Sendable, Hashable {
    /// Nothing is done, and the answer says that the answer was lost.
    case lostBefore
    /// The request is carried out, and the answer says that the answer was lost.
    case lostAfter
    /// Nothing is done, and this is the answer.
    case failure(SyncError)
    /// Nothing is done, and no answer comes.
    case never
    /// The request is carried out, and no answer comes.
    case neverAfter
    /// The answer comes, and once more after a while.
    case duplicate(again: Duration)
    /// The request is carried out at once, the answer comes later.
    case delay(Duration)

    /// Whether the session never learns what became of the request.
    package var isLoss: Bool {
      switch self {
      case .lostBefore, .lostAfter, .never, .neverAfter: true
      case .failure, .duplicate, .delay: false
      }
    }
  }

  /// Decides what goes wrong, given the call's number over all kinds, counting from 0.
  package typealias Faults = @Sendable (_ call: Int, _ operation: Operation) -> Fault?

  /// How the cloud behaves.
  package struct Options: Sendable {
    /// What the session is told.
    package var limits = RequestLimits()
    /// What the cloud really takes before it answers `limitExceeded`; by default what it told.
    package var itemLimit: Int?
    /// Whether one refused item keeps the others of its request from being stored.
    package var isAtomic = true
    /// Whether refused items come as a `partialFailure`, not as failures of a response.
    package var failsAsError = false
    /// Whether a repeated write token is answered as the first time.
    package var knowsWriteTokens = true
    /// Whether a save must carry the record's change tag.
    package var checksChangeTags = true
    /// Whether the deletion of a record that does not exist is refused with `unknownItem`.
    package var refusesMissingDeletions = false
    /// How many changes a page holds.
    package var pageSize = 400
    /// How long every answer takes.
    package var delay = Duration.zero
    /// Whether the zone exists from the beginning.
    package var hasZone = true
    /// Refuses single items, whatever their tags.
    package var refuse: @Sendable (_ recordID: RecordID, _ edit: Record?) -> SyncError? = { _, _ in
      nil
    }

    package init() {}
  }

  /// One call, as it came.
  package struct Call: Sendable, Hashable {
    package var operation: Operation
    package var context: RequestContext
    package var time: Timestamp?
    /// Whether a fault kept its answer from the session.
    package var wasLost = false

    package init(operation: Operation, context: RequestContext, time: Timestamp?) {
      self.operation = operation
      self.context = context
      self.time = time
    }
  }

  /// One stored change, in the order in which the cloud stored them.
  package struct Change: Sendable, Hashable {
    package var recordID: RecordID
    /// What was set; nil for a deletion.
    package var edit: Record?

    package init(recordID: RecordID, edit: Record?) {
      self.recordID = recordID
      self.edit = edit
    }
  }

  private let world: VirtualEnvironment?
  private let state: Locked<StubCloudState>
  private let fault: Faults
  package let limits: RequestLimits

  /// Creates an empty cloud; without a world every answer comes at once, delays are not possible.
  package init(
    in world: VirtualEnvironment? = nil,
    options: Options = Options(),
    fault: @escaping Faults = { _, _ in nil }
  ) {
    self.world = world
    self.fault = fault
    limits = options.limits
    state = Locked(StubCloudState(options))
  }

  // MARK: Looking

  /// The records, sorted by name.
  package var records: [Record] { state.withLock { $0.allRecords } }
  /// The calls, in order.
  package var calls: [Call] { state.withLock { $0.calls } }
  /// The modifications among the calls.
  package var modifications: [ModifyOperation] {
    calls.compactMap { if case .modify(let operation) = $0.operation { operation } else { nil } }
  }
  /// Everything that was stored, in order, the edits of other devices included.
  package var changes: [Change] { state.withLock { $0.changes } }
  /// The attempts that the session gave up.
  package var cancelled: [Attempt] { state.withLock { $0.cancelled } }
  /// What a session must never do, and did.
  package var violations: [String] { state.withLock { $0.violations } }
  /// Whether the zone exists.
  package var hasZone: Bool { state.withLock { $0.hasZone } }

  /// The record of a name, as the cloud has it.
  package subscript(name: String) -> Record? { state.withLock { $0.stored[name]?.record } }

  /// How often a mode was asked for.
  package func count(of mode: OperationMode) -> Int { calls.count { $0.operation.mode == mode } }

  // MARK: Acting from outside

  /// Another device saves a record, whatever its tag.
  @discardableResult
  package func save(_ edit: Record) -> Record { state.withLock { $0.store(edit) } }

  /// Another device deletes a record.
  package func remove(_ recordID: RecordID) { state.withLock { $0.remove(recordID) } }

  /// The zone disappears with all its records, and is missing in this way until it is created.
  package func loseZone(_ error: SyncError = SyncError(.zoneNotFound)) {
    state.withLock { $0.loseZone(error) }
  }

  /// Every change token given so far is refused from now on.
  package func expireTokens() { state.withLock { $0.generation += 1 } }

  /// Changes how the cloud behaves.
  package func change(_ body: @Sendable (inout Options) -> Void) {
    var options = state.withLock { $0.options }
    body(&options)
    let changed = options
    state.withLock { $0.options = changed }
  }

  // MARK: Answering

  /// Notes a call, lets the fault decide what is done, and answers.
  private func serve<Value: Sendable>(
    _ operation: Operation,
    _ context: RequestContext,
    _ completion: @escaping @Sendable (Result<Value, SyncError>) -> Void,
    _ body: @Sendable (inout StubCloudState) -> Result<Value, SyncError>
  ) {
    let call = Call(operation: operation, context: context, time: world?.now)
    let number = state.withLock { $0.begin(call) }
    let fault = fault(number, operation)
    if fault?.isLoss == true { state.withLock { $0.calls[number].wasLost = true } }
    let isDone =
      switch fault {
      case .lostBefore, .failure, .never: false
      case nil, .lostAfter, .neverAfter, .duplicate, .delay: true
      }
    let result = isDone ? state.withLock { body(&$0) } : .failure(SyncError(.serverResponseLost))
    var delay = state.withLock { $0.options.delay }
    var again: Duration?
    var answer = result
    switch fault {
    case .never, .neverAfter: return
    case .lostBefore, .lostAfter: answer = .failure(SyncError(.serverResponseLost))
    case .failure(let error): answer = .failure(error)
    case .duplicate(let pause): again = pause
    case .delay(let pause): delay += pause
    case nil: break
    }
    let given = answer
    let attempt = context.attempt
    let finish: @Sendable () -> Void = { [state] in
      state.withLock { $0.end(attempt) }
      completion(given)
    }
    after(delay, finish)
    if let again { after(delay + again, finish) }
  }

  private func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    if delay == .zero { return body() }
    guard let world else { preconditionFailure("Give the cloud a world to have it wait.") }
    world.schedule(afterNanoseconds: delay.clampedNanoseconds, body)
  }

  package func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    serve(.createZone, context, completion) { $0.createZone() }
  }

  package func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    serve(.createSubscription, context, completion) { state in
      state.hasZone ? .success(true) : .failure(state.zoneError)
    }
  }

  package func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    serve(.modify(modifyOperation), context, completion) {
      $0.modify(modifyOperation, context.writeToken)
    }
  }

  package func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    serve(.fetch(fetchOperation), context, completion) { $0.fetch(fetchOperation) }
  }

  package func cancel(_ attempt: Attempt) {
    state.withLock { state in
      state.cancelled.append(attempt)
      state.end(attempt)
    }
  }
}

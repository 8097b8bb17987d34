#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

package import CloudSyncCore
package import CloudSyncSimulator

/// A small cloud in memory: one zone an account with change tags, a feed of changes and faults on
/// demand.
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
/// What a session must never do is noted in ``violations``: check that it is empty. A test that
/// checks every commit as it happens uses the cloud's ``StubCloudState`` without this handler.
package final class StubCloud: WorkHandler {
  /// Decides what goes wrong, given the call's number over all kinds, counting from 0.
  package typealias Faults = @Sendable (_ call: Int, _ operation: SyncWork) -> Fault?
  /// What a call is answered with.
  package typealias Answer = Result<SyncWork.Result, SyncError>

  /// One call, as it came.
  package struct Call: Sendable {
    package var operation: SyncWork
    package var context: RequestContext
    package var time: Timestamp?
    /// Whether a fault kept its response from the session.
    package var wasLost = false
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

  /// Creates an empty cloud; without a world every response comes at once, delays are not possible.
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
  package var records: [Record] { state.withLock { $0.zone.allRecords } }
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
  package var hasZone: Bool { state.withLock { $0.zone.exists } }

  /// The record of a name, as the cloud has it.
  package subscript(name: String) -> Record? { state.withLock { $0.zone[name] } }

  /// How often a mode was asked for.
  package func count(of mode: OperationMode) -> Int { calls.count { $0.operation.mode == mode } }

  // MARK: Acting from outside

  /// Another device saves a record, whatever its tag.
  @discardableResult
  package func save(_ edit: Record) -> Record { state.withLock { $0.store(edit, isOther: true) } }

  /// Another device deletes a record.
  package func remove(_ recordID: RecordID) { state.withLock { $0.remove(recordID) } }

  /// The zone disappears with all its records, and is missing in this way until it is created.
  package func loseZone(_ error: SyncError = SyncError(.zoneNotFound)) {
    state.withLock { $0.loseZone(error) }
  }

  /// Another device creates the zone.
  package func createZone() { state.withLock { $0.createZone() } }

  /// Every change token given so far is refused from now on.
  package func expireTokens() { state.withLock { $0.expireTokens() } }

  /// Changes how the cloud behaves.
  package func change(_ body: @Sendable (inout Options) -> Void) {
    var options = state.withLock { $0.options }
    body(&options)
    let changed = options
    state.withLock { $0.options = changed }
  }

  // MARK: Answering

  /// Notes a call, lets the fault decide what is done, and answers.
  package func handle(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping Completion
  ) {
    let call = Call(operation: work, context: context, time: world?.now)
    let number = state.withLock { $0.begin(call) }
    // Outside the lock: a test may call the session or the cloud from there.
    let fault = fault(number, work)
    let (replies, delay) = state.withLock { state in
      if fault?.isLoss == true { state.calls[number].wasLost = true }
      return (state.serve(work, context, fault: fault).replies, state.options.delay)
    }
    for reply in replies {
      after(delay + reply.delay) { [state] in
        state.withLock { $0.end(context.attempt) }
        completion(reply.answer)
      }
    }
  }

  private func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    if delay == .zero { return body() }
    guard let world else { preconditionFailure("Give the cloud a world to have it wait.") }
    world.schedule(afterNanoseconds: delay.clampedNanoseconds, body)
  }

  package func cancel(_ attempt: Attempt) {
    state.withLock { state in
      state.cancelled.append(attempt)
      state.end(attempt)
    }
  }
}

extension SyncWork {
  package var isModify: Bool { mode == .modify }
  package var isFetch: Bool { mode == .fetch }
  /// The items of a modification: what it saves, and what it deletes.
  package var items: [StubCloud.Change] {
    guard case .modify(let operation) = self else { return [] }
    return operation.records.map { StubCloud.Change(recordID: $0.recordID, edit: $0) }
      + operation.recordIDsToDelete.map { StubCloud.Change(recordID: $0, edit: nil) }
  }
}

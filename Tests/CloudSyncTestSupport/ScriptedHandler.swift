#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

package import CloudSyncCore
package import CloudSyncSimulator

/// A handler that answers as a test says, and remembers what it was asked.
package final class ScriptedHandler: WorkHandler {
  /// How a call is answered.
  package enum Reply<Value: Sendable>: Sendable {
    case now(Result<Value, SyncError>)
    case after(Duration, Result<Value, SyncError>)
    case twice(Result<Value, SyncError>, again: Duration)
    case never

    package static func success(_ value: Value) -> Self { .now(.success(value)) }
    package static func failure(_ code: SyncError.Code, retryAfter: Duration? = nil) -> Self {
      .now(.failure(SyncError(code, retryAfter: retryAfter)))
    }
    package static func failure(_ error: SyncError) -> Self { .now(.failure(error)) }

    func map<Other: Sendable>(_ transform: (Value) -> Other) -> Reply<Other> {
      switch self {
      case .now(let result): .now(result.map(transform))
      case .after(let delay, let result): .after(delay, result.map(transform))
      case .twice(let result, let delay): .twice(result.map(transform), again: delay)
      case .never: .never
      }
    }
  }

  /// One call.
  package struct Call: Sendable, Hashable {
    package var mode: OperationMode
    package var time: Timestamp
    package var attempt: Attempt
    package var token: WriteToken
    package var saves: [Record] = []
    package var deletions: [RecordID] = []
    package var fetch: FetchOperation?

    package var names: [String] { saves.map(\.recordID.name) + deletions.map { "-" + $0.name } }
  }

  /// The responses, each given the call's number of its kind, counting from 0.
  package struct Script: Sendable {
    package var modify: @Sendable (ModifyOperation, Int) -> Reply<ModifyOperation.Response> = {
      op,
      _ in
      .success(ScriptedHandler.allSaved(op))
    }
    package var fetch: @Sendable (FetchOperation, Int) -> Reply<FetchOperation.Response> = { _, _ in
      .success(.init(changeToken: ChangeToken(text: "end")))
    }
    package var createZone: @Sendable (Int) -> Reply<Bool> = { _ in .success(true) }
    package var createSubscription: @Sendable (Int) -> Reply<Bool> = { _ in .success(true) }

    package init() {}

    /// A script that differs from the usual answers in some.
    package init(
      modify: (@Sendable (ModifyOperation, Int) -> Reply<ModifyOperation.Response>)? = nil,
      fetch: (@Sendable (FetchOperation, Int) -> Reply<FetchOperation.Response>)? = nil,
      createZone: (@Sendable (Int) -> Reply<Bool>)? = nil,
      createSubscription: (@Sendable (Int) -> Reply<Bool>)? = nil
    ) {
      if let modify { self.modify = modify }
      if let fetch { self.fetch = fetch }
      if let createZone { self.createZone = createZone }
      if let createSubscription { self.createSubscription = createSubscription }
    }
  }

  private struct State: Sendable {
    var script: Script
    var calls: [Call] = []
    var cancelled: [Attempt] = []
  }

  package let limits: RequestLimits
  package let timestampUnit: Duration
  private let world: VirtualEnvironment
  private let state: Locked<State>

  package init(
    in world: VirtualEnvironment,
    limits: RequestLimits = RequestLimits(),
    timestampUnit: Duration = .nanoseconds(1),
    script: Script = Script()
  ) {
    self.world = world
    self.limits = limits
    self.timestampUnit = timestampUnit
    state = Locked(State(script: script))
  }

  package var calls: [Call] { state.withLock { $0.calls } }
  package var modifyCalls: [Call] { calls.filter { $0.mode == .modify } }
  package var fetchCalls: [Call] { calls.filter { $0.mode == .fetch } }
  package var cancelled: [Attempt] { state.withLock { $0.cancelled } }

  package func change(_ body: @Sendable (inout Script) -> Void) {
    var script = state.withLock { $0.script }
    body(&script)
    let changed = script
    state.withLock { $0.script = changed }
  }

  /// Everything saved, with change tags that count the calls of the record's name.
  package static func allSaved(_ operation: ModifyOperation) -> ModifyOperation.Response {
    ModifyOperation.Response(
      savedRecords: operation.records.map { record in
        record.withChangeTag((record.changeTag ?? "") + "+")
      },
      deletedRecordIDs: operation.recordIDsToDelete
    )
  }

  /// The first request is saved at once, and each that follows a minute after it was sent: what comes in between meets an
  /// operation of which only a part is answered.
  package static func laterSaved(
    _ operation: ModifyOperation,
    number: Int
  ) -> Reply<ModifyOperation.Response> {
    let answer = allSaved(operation)
    return number == 0 ? .success(answer) : .after(.seconds(60), .success(answer))
  }

  private func note(_ call: Call) -> (Script, Int) {
    state.withLock { state in
      let number = state.calls.count { $0.mode == call.mode }
      state.calls.append(call)
      return (state.script, number)
    }
  }

  package func handle(
    _ work: SyncWork,
    context: RequestContext,
    completion: @escaping Completion
  ) {
    var call = Call(
      mode: work.mode,
      time: world.now,
      attempt: context.attempt,
      token: context.writeToken
    )
    switch work {
    case .createZone:
      let (script, number) = note(call)
      answer(script.createZone(number).map(SyncWork.Result.createZone), completion)
    case .createSubscription:
      let (script, number) = note(call)
      answer(script.createSubscription(number).map(SyncWork.Result.createSubscription), completion)
    case .modify(let operation):
      call.saves = operation.records
      call.deletions = operation.recordIDsToDelete
      let (script, number) = note(call)
      answer(script.modify(operation, number).map(SyncWork.Result.modify), completion)
    case .fetch(let operation):
      call.fetch = operation
      let (script, number) = note(call)
      answer(script.fetch(operation, number).map(SyncWork.Result.fetch), completion)
    }
  }

  private func answer(_ reply: Reply<SyncWork.Result>, _ completion: @escaping Completion) {
    switch reply {
    case .now(let result): completion(result)
    case .after(let delay, let result):
      world.schedule(afterNanoseconds: delay.clampedNanoseconds) { completion(result) }
    case .twice(let result, let delay):
      completion(result)
      world.schedule(afterNanoseconds: delay.clampedNanoseconds) { completion(result) }
    case .never: break
    }
  }

  package func cancel(_ attempt: Attempt) { state.withLock { $0.cancelled.append(attempt) } }
}

extension ChangeToken {
  /// A token of a text's bytes.
  package init?(text: String) { self.init(Data(text.utf8)) }
}

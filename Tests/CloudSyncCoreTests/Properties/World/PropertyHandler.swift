import CloudSyncCore
import CloudSyncTestSupport

/// The handler of one process of a script.
final class PropertyHandler: OperationHandler {
  private let process: Int
  /// The run owns the world in which everything happens.
  private let run: ScriptRunReference

  init(_ run: ScriptRun, process: Int) {
    self.run = ScriptRunReference(run: run)
    self.process = process
    limits = run.plan.limits
  }

  let limits: RequestLimits

  private func take(
    _ call: HandlerCall,
    _ context: RequestContext,
    _ deliver: @escaping @Sendable (HandlerAnswer) -> Void
  ) {
    run.run?.take(call, context, process, deliver)
  }

  func handle(
    createZoneOperation: CreateZoneOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    take(.createZone, context) { answer in
      completion(answer.map { if case .createZone(let done) = $0 { done } else { false } })
    }
  }

  func handle(
    createSubscriptionOperation: CreateSubscriptionOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
  ) {
    take(.createSubscription, context) { answer in
      completion(answer.map { if case .createSubscription(let done) = $0 { done } else { false } })
    }
  }

  func handle(
    modifyOperation: ModifyOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<ModifyOperation.Response, SyncError>) -> Void
  ) {
    take(.modify(modifyOperation), context) { answer in
      completion(
        answer.map { if case .modify(let response) = $0 { response } else { .init() } }
      )
    }
  }

  func handle(
    fetchOperation: FetchOperation,
    context: RequestContext,
    completion: @escaping @Sendable (Result<FetchOperation.Response, SyncError>) -> Void
  ) {
    take(.fetch(fetchOperation), context) { answer in
      completion(
        answer.map {
          if case .fetch(let response) = $0 { response } else { .init(changeToken: nil) }
        }
      )
    }
  }

  func cancel(_ attempt: Attempt) {
    run.run?
      .note(process) { memory in
        memory.note("  cancel \(attempt)")
        if memory.current?.attempt == attempt { memory.current = nil }
      }
  }
}

/// The handler must not keep the run, which keeps the session, which keeps the handler.
private struct ScriptRunReference: Sendable {
  weak var run: ScriptRun?
}

extension ScriptRun {
  /// Takes a call of the handler.
  fileprivate func take(
    _ call: HandlerCall,
    _ context: RequestContext,
    _ process: Int,
    _ deliver: @escaping @Sendable (HandlerAnswer) -> Void
  ) {
    guard isAlive(process), let state = session?.state else { return }
    let now = world.now
    let elapsed = elapsed
    let replies = memory.withLock { memory in
      memory.checkCall(call, context, state, at: now, elapsed: elapsed)
      let call = memory.plan.mutant?.alter(call, &memory.mutant, memory.cloud) ?? call
      return memory.reply(to: call, context, state)
    }
    for reply in replies {
      if reply.delay == 0 {
        give(reply.answer, to: context.attempt, process, deliver)
      } else {
        world.schedule(afterNanoseconds: reply.delay) { [weak self] in
          self?.give(reply.answer, to: context.attempt, process, deliver)
        }
      }
    }
  }

  private func give(
    _ answer: HandlerAnswer,
    to attempt: Attempt,
    _ process: Int,
    _ deliver: @Sendable (HandlerAnswer) -> Void
  ) {
    let answer = memory.withLock { memory -> HandlerAnswer in
      guard memory.process == process, !memory.isDown else { return answer }
      memory.note("  answer of \(attempt)")
      // Of two answers in a row the first one counts.
      if memory.delivered[attempt] == nil { memory.delivered[attempt] = answer }
      return plan.mutant?.alter(answer, &memory.mutant) ?? answer
    }
    deliver(answer)
  }
}

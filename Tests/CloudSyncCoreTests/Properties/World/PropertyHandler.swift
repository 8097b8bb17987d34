import CloudSyncCore
import CloudSyncSimulator
import CloudSyncTestSupport

/// The handler of one process of a script: it checks what goes to the script's cloud, and what comes
/// back.
final class PropertyHandler: WorkHandler {
  private let process: Int
  /// The run owns the world in which everything happens.
  private let run: ScriptRunReference
  let limits: RequestLimits

  init(_ run: ScriptRun, process: Int) {
    self.run = ScriptRunReference(run: run)
    self.process = process
    limits = run.plan.limits
  }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    run.run?.handle(work, context, process, completion)
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
  fileprivate func handle(
    _ call: SyncWork,
    _ context: RequestContext,
    _ process: Int,
    _ deliver: @escaping WorkHandler.Completion
  ) {
    guard isAlive(process), let state = session?.state else { return }
    let now = world.now
    let elapsed = elapsed
    let replies = memory.withLock { memory in
      memory.checkCall(call, context, state, at: now, elapsed: elapsed)
      let call = memory.plan.mutant?.alter(call, &memory.mutant, memory.cloud.zone) ?? call
      return memory.reply(to: call, context, state)
    }
    for reply in replies {
      if reply.delay == .zero {
        give(reply.answer, to: context.attempt, process, deliver)
      } else {
        world.schedule(afterNanoseconds: reply.delay.clampedNanoseconds) { [weak self] in
          self?.give(reply.answer, to: context.attempt, process, deliver)
        }
      }
    }
  }

  private func give(
    _ answer: StubCloud.Answer,
    to attempt: Attempt,
    _ process: Int,
    _ deliver: WorkHandler.Completion
  ) {
    let answer = memory.withLock { memory -> StubCloud.Answer in
      guard memory.process == process, !memory.isDown else { return answer }
      memory.note("  answer of \(attempt)")
      let answer = plan.losesRecords && !memory.isQuiet ? answer.losing(plan.seed, attempt) : answer
      // Of two responses in a row the first one counts.
      if memory.delivered[attempt] == nil { memory.delivered[attempt] = answer }
      return plan.mutant?.alter(answer, &memory.mutant) ?? answer
    }
    deliver(answer)
  }
}

extension StubCloud.Answer {
  /// The response with some records of a page that could not be read; look-ups bring theirs.
  fileprivate func losing(_ seed: UInt64, _ attempt: Attempt) -> Self {
    guard case .success(.fetch(var page)) = self, page.changeToken != nil else { return self }
    var random = SplitMix64(seed: seed &* 31 &+ attempt.number &+ attempt.epoch << 32)
    var read: [Record] = []
    for record in page.changedRecords {
      if random.chance(1, in: 4) {
        page.failures.append(ItemFailure(record.recordID, SyncError(.internalError)))
      } else {
        read.append(record)
      }
    }
    page.changedRecords = read
    return .success(.fetch(page))
  }
}

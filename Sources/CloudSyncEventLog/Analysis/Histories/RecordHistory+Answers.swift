import CloudSyncCore

/// What the end of a request means for one record of it.
extension RecordHistoryReader {
  mutating func processEnd(of ended: Flight, _ step: LogFold.Step) {
    guard let place = step.endedEntries.firstIndex(where: { $0.recordID == recordID }) else {
      return
    }
    let attempt = ended.attempt
    guard step.isAnswer else {
      processLoss(of: attempt, step)
      return
    }
    switch step.event {
    case .workSuccess(_, .modify(let response)):
      processSuccess(response, step.endedEntries[place], attempt, step)
    case .retry(_, let retry): process(retry, attempt, step)
    case .split(_, let split):
      let code = split.error.code
      let reason = split.isTooLarge ? "is too large" : "is spoilt by one of its items"
      add(.split, step, attempt: attempt, error: code, "request \(attempt) \(reason) (\(code))")
    case .settleItems, .resolveConflict: processVerdict(at: place, attempt, step)
    default:
      let code = step.event.mainError?.code
      let reason = code.map { " (\($0))" } ?? ""
      add(.stayed, step, attempt: attempt, error: code, "request \(attempt) ends\(reason)")
    }
  }

  /// The request ended without an answer.
  private mutating func processLoss(of attempt: Attempt, _ step: LogFold.Step) {
    if case .restored = step.event {
      add(.answerLost, step, attempt: attempt, "the process ended during request \(attempt)")
    } else {
      let name = step.event.name
      add(.answerLost, step, attempt: attempt, "request \(attempt) is given up (\(name))")
    }
  }

  private mutating func process(_ retry: Retry, _ attempt: Attempt, _ step: LogFold.Step) {
    let code = retry.error.code
    let wait = retry.wait.nanoseconds.map { "; it waits \(TimeText.length($0))" } ?? ""
    if retry.isLost {
      let text = "the answer to request \(attempt) is lost (\(code))\(wait)"
      add(.answerLost, step, attempt: attempt, error: code, text)
    } else {
      let text = "request \(attempt) failed (\(code))\(wait)"
      add(.retried, step, attempt: attempt, error: code, text)
    }
  }

  private mutating func processSuccess(
    _ response: ModifyOperation.Response,
    _ entry: PendingChange,
    _ attempt: Attempt,
    _ step: LogFold.Step
  ) {
    if entry.edit == nil {
      add(.deleted, step, attempt: attempt, "it is deleted by request \(attempt)")
    } else if let record = response.savedRecords.first(where: { $0.recordID == recordID }) {
      add(.saved, step, attempt: attempt, "request \(attempt) saved it\(newTag(record))")
    } else {
      add(.stayed, step, attempt: attempt, "the answer to \(attempt) does not fit; it goes again")
    }
  }

  private func newTag(_ record: Record) -> String {
    record.changeTag.map { ", its change tag is \(Formatting.readable($0))" } ?? ""
  }

  private mutating func processVerdict(at place: Int, _ attempt: Attempt, _ step: LogFold.Step) {
    let error = step.itemFailures.first { $0.recordID == recordID }?.error
    if let error { processError(error, attempt, step) }
    let verdicts = step.event.verdicts
    guard place < verdicts.count else {
      let code = step.event.mainError?.code
      let reason = code.map { " (\($0))" } ?? ""
      add(.stayed, step, attempt: attempt, error: code, "it stays for another request\(reason)")
      return
    }
    let decision = decision(in: step)
    switch verdicts[place] {
    case .saved(let record):
      add(.saved, step, attempt: attempt, "request \(attempt) saved it\(newTag(record))")
    case .alreadyThere(let record):
      let text = "\(decision)the cloud has it all already\(newTag(record))"
      add(.saved, step, attempt: attempt, text)
    case .deleted: add(.deleted, step, attempt: attempt, "it is gone from the cloud")
    case .resolved(let record, _):
      let tag = record.changeTag.map { " with change tag \(Formatting.readable($0))" } ?? ""
      add(.resolved, step, attempt: attempt, "\(decision)the result is sent\(tag)")
    case .recreate:
      add(.resolved, step, attempt: attempt, "the cloud does not have it; it is saved anew")
    case .lookUp: add(.conflict, step, attempt: attempt, "the cloud's record is to be looked up")
    case .stay:
      let code = error?.code ?? step.event.mainError?.code
      let reason = code.map { " (\($0))" } ?? ""
      add(.stayed, step, attempt: attempt, error: code, "\(decision)it stays in place\(reason)")
    case .again(let error, let isCounted):
      let budget = isCounted ? ", which counts against its budget" : ""
      let text = "it failed in passing (\(error.code)) and goes again\(budget)"
      add(.stayed, step, attempt: attempt, error: error.code, text)
    case .park(let parking), .parkForQuota(let parking):
      // That it is set aside is seen by the state; the reason may be the whole request's.
      guard error == nil else { return }
      add(
        .refused,
        step,
        attempt: attempt,
        error: parking.code,
        "\(decision)request \(attempt) is refused (\(parking.code))"
      )
    }
  }

  private mutating func processError(_ error: SyncError, _ attempt: Attempt, _ step: LogFold.Step) {
    if error.code == .serverRecordChanged {
      let tag = error.serverRecord?.changeTag
      let has = tag.map { "the cloud has change tag \(Formatting.readable($0))" }
      let text = has ?? "the cloud's record is not in the answer"
      add(.conflict, step, attempt: attempt, error: error.code, text)
    } else {
      let text = "request \(attempt) has it as failed (\(error.code))"
      add(.refused, step, attempt: attempt, error: error.code, text)
    }
  }

  /// What the conflict resolver said about the record.
  private func decision(in step: LogFold.Step) -> String {
    for case .conflict(recordID, let resolution) in step.step.record.decisions {
      return "the resolver said “\(resolution.word)”: "
    }
    return ""
  }
}

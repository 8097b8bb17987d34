import CloudSyncCore

/// What the end of a request means for one record of it.
extension RecordHistoryReader {
  mutating func processEnd(of ended: Flight, step: LogFold.Step) {
    guard let place = step.endedEntries.firstIndex(where: { $0.recordID == recordID }) else {
      return
    }
    let attempt = ended.attempt
    guard step.isAnswer else {
      processLoss(of: attempt, step: step)
      return
    }
    switch step.event {
    case .workSuccess(_, .modify(let response)):
      processSuccess(
        response: response,
        entry: step.endedEntries[place],
        attempt: attempt,
        step: step
      )
    case .retry(_, let retry): process(retry: retry, attempt: attempt, step: step)
    case .split(_, let split):
      let code = split.error.code
      let reason = split.isTooLarge ? "is too large" : "fails because of one record"
      add(
        .split,
        at: step,
        attempt: attempt,
        error: code,
        text: "request \(attempt) \(reason) (\(code))"
      )
    case .settleItems, .resolveConflict: processVerdict(at: place, attempt: attempt, step: step)
    default:
      let code = step.event.mainError?.code
      let reason = code.map { " (\($0))" } ?? ""
      add(
        .stayed,
        at: step,
        attempt: attempt,
        error: code,
        text: "request \(attempt) ends\(reason)"
      )
    }
  }

  /// The request ended without a response.
  private mutating func processLoss(of attempt: Attempt, step: LogFold.Step) {
    if case .restored = step.event {
      add(
        .responseLost,
        at: step,
        attempt: attempt,
        text: "the process ended during request \(attempt)"
      )
    } else {
      let name = step.event.name
      add(
        .responseLost,
        at: step,
        attempt: attempt,
        text: "request \(attempt) is given up (\(name))"
      )
    }
  }

  private mutating func process(retry: Retry, attempt: Attempt, step: LogFold.Step) {
    let code = retry.error.code
    let wait = retry.wait.nanoseconds.map { "; retries in \(Phrase.duration($0))" } ?? ""
    if retry.isLost {
      let text = "the response to request \(attempt) is lost (\(code))\(wait)"
      add(.responseLost, at: step, attempt: attempt, error: code, text: text)
    } else {
      let text = "request \(attempt) failed (\(code))\(wait)"
      add(.retried, at: step, attempt: attempt, error: code, text: text)
    }
  }

  private mutating func processSuccess(
    response: ModifyOperation.Response,
    entry: PendingChange,
    attempt: Attempt,
    step: LogFold.Step
  ) {
    if entry.edit == nil {
      add(.deleted, at: step, attempt: attempt, text: "it is deleted by request \(attempt)")
    } else if let record = response.savedRecords.first(where: { $0.recordID == recordID }) {
      add(
        .saved,
        at: step,
        attempt: attempt,
        text: "request \(attempt) saved it\(newTag(record: record))"
      )
    } else {
      add(
        .stayed,
        at: step,
        attempt: attempt,
        text: "the response to request \(attempt) does not fit; it is sent again"
      )
    }
  }

  private func newTag(record: Record) -> String {
    record.changeTag.map { ", its change tag is \(Phrase.readable($0))" } ?? ""
  }

  private mutating func processVerdict(at place: Int, attempt: Attempt, step: LogFold.Step) {
    let error = step.itemFailures.first { $0.recordID == recordID }?.error
    if let error { processError(error: error, attempt: attempt, step: step) }
    let verdicts = step.event.verdicts
    guard place < verdicts.count else {
      let code = step.event.mainError?.code
      let reason = code.map { " (\($0))" } ?? ""
      add(
        .stayed,
        at: step,
        attempt: attempt,
        error: code,
        text: "it is sent again in another request\(reason)"
      )
      return
    }
    let decision = decision(in: step)
    switch verdicts[place] {
    case .saved(let record):
      add(
        .saved,
        at: step,
        attempt: attempt,
        text: "request \(attempt) saved it\(newTag(record: record))"
      )
    case .alreadyThere(let record):
      let text = "\(decision)it is already in the cloud\(newTag(record: record))"
      add(.saved, at: step, attempt: attempt, text: text)
    case .deleted: add(.deleted, at: step, attempt: attempt, text: "it is gone from the cloud")
    case .resolved(let record, _):
      let tag = record.changeTag.map { " with change tag \(Phrase.readable($0))" } ?? ""
      add(.resolved, at: step, attempt: attempt, text: "\(decision)the result is to be sent\(tag)")
    case .recreate:
      add(
        .resolved,
        at: step,
        attempt: attempt,
        text: "the cloud does not have it; it is saved anew"
      )
    case .lookUp:
      add(.conflict, at: step, attempt: attempt, text: "the cloud's record is to be looked up")
    case .stay:
      let code = error?.code ?? step.event.mainError?.code
      let reason = code.map { " (\($0))" } ?? ""
      add(
        .stayed,
        at: step,
        attempt: attempt,
        error: code,
        text: "\(decision)it is to be sent again\(reason)"
      )
    case .again(let error, let isCounted):
      let budget = isCounted ? ", which counts against its budget" : ""
      let text = "it failed (\(error.code)) and is to be sent again\(budget)"
      add(.stayed, at: step, attempt: attempt, error: error.code, text: text)
    case .park(let parking), .parkForQuota(let parking):
      // That it is set aside is seen by the state; the reason may be the whole request's.
      guard error == nil else { return }
      add(
        .refused,
        at: step,
        attempt: attempt,
        error: parking.code,
        text: "\(decision)request \(attempt) is rejected (\(parking.code))"
      )
    }
  }

  private mutating func processError(error: SyncError, attempt: Attempt, step: LogFold.Step) {
    if error.code == .serverRecordChanged {
      let tag = error.serverRecord?.changeTag
      let has = tag.map { "the cloud has change tag \(Phrase.readable($0))" }
      let text = has ?? "the cloud's record is not in the response"
      add(.conflict, at: step, attempt: attempt, error: error.code, text: text)
    } else {
      let text = "it failed in request \(attempt) (\(error.code))"
      add(.refused, at: step, attempt: attempt, error: error.code, text: text)
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

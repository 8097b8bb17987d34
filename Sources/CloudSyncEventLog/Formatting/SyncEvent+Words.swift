import CloudSyncCore

extension SyncEvent {
  /// The event in words, its name first.
  ///
  /// - Parameters:
  ///   - input: The event as it came in, which has the answer where this one has what it means.
  ///   - decisions: What the app's closures decided meanwhile.
  /// - Returns: The words, without the values of records.
  func words(input: SyncEvent?, decisions: [Decision]) -> String {
    var text = line
    switch self {
    case .doWork(.modify(let operation)): text += operation.nameWords
    case .retryParked(let ids), .dropParked(let ids):
      text += ids.map { ": \(Formatting.names($0.map(\.name)))" } ?? " all"
    case .workSuccess(_, .modify(let response)): text += response.words
    case .workSuccess(_, .fetch(let page)): text += page.words
    case .workSuccess(_, .createZone(false)), .workSuccess(_, .createSubscription(false)):
      text += ": refused"
    case .workFailure(_, let error), .failFetch(_, let error): text += error.itemWords
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      text += settlement.words
    case .retry(_, let retry): if retry.isLost { text += ", the answer is lost" }
    case .split(_, let split): if split.isTooLarge { text += ", too large" }
    case .startOver(_, _, let error): text += " \(error.code)"
    case .resolveAccountSwitch(let decision, _): text += " \(decision)"
    case .decideZone(let decision): text += " \(decision)"
    case .gateClosed(let wait): text += " \(wait.cause)"
    default: break
    }
    if let input, input.name != name {
      text += " (came in as \(input.name)\(input.failedWords))"
    }
    return text + Self.words(decisions: decisions)
  }

  /// The records that an answer names as failed.
  private var failedWords: String {
    switch self {
    case .workSuccess(_, .modify(let response)): response.failures.words
    case .workFailure(_, let error): error.itemErrors.words
    default: ""
    }
  }

  private static func words(decisions: [Decision]) -> String {
    var text = ""
    for decision in decisions.prefix(4) {
      switch decision {
      case .conflict(let recordID, let resolution):
        text += "; \(Formatting.readable(recordID.name)) decided: \(resolution.word)"
      case .expiredToken(let token):
        text += token == nil ? "; decided: fetch everything" : "; decided: fetch from a token"
      }
    }
    return decisions.count > 4 ? text + "; and \(decisions.count - 4) more" : text
  }
}

extension ConflictResolution {
  /// The name of the answer.
  var word: String {
    switch self {
    case .save: "save"
    case .park: "park"
    case .later: "later"
    case .halt: "halt"
    }
  }
}

extension ModifyOperation {
  /// What it saves and deletes.
  fileprivate var nameWords: String {
    let names = records.map(\.recordID.name) + recordIDsToDelete.map { "−\($0.name)" }
    return names.isEmpty ? "" : ": \(Formatting.names(names))"
  }
}

extension ModifyOperation.Response {
  fileprivate var words: String {
    var parts: [String] = []
    if !savedRecords.isEmpty {
      parts.append(
        "\(savedRecords.count) saved (\(Formatting.names(savedRecords.map(\.recordID.name))))"
      )
    }
    if !deletedRecordIDs.isEmpty {
      parts.append(
        "\(deletedRecordIDs.count) deleted (\(Formatting.names(deletedRecordIDs.map(\.name))))"
      )
    }
    if !failures.isEmpty { parts.append("\(failures.count) failed\(failures.words)") }
    return parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
  }
}

extension FetchOperation.Response {
  fileprivate var words: String {
    var parts = ["\(changedRecords.count) changed"]
    if !changedRecords.isEmpty {
      parts[0] += " (\(Formatting.names(changedRecords.map(\.recordID.name))))"
    }
    if !deletedRecords.isEmpty {
      parts.append(
        "\(deletedRecords.count) deleted (\(Formatting.names(deletedRecordIDs.map(\.name))))"
      )
    }
    if !failures.isEmpty { parts.append("\(failures.count) failed\(failures.words)") }
    parts.append(hasMore ? "more to come" : "the last page")
    return ": " + parts.joined(separator: ", ")
  }
}

extension [ItemFailure] {
  /// The first few of them, with their codes.
  fileprivate var words: String {
    if isEmpty { return "" }
    let shown = prefix(4)
      .map { "\(Formatting.readable($0.recordID.name, limit: 64)) \($0.error.code)" }
    let more = count > 4 ? " and \(count - 4) more" : ""
    return ": \(shown.joined(separator: ", "))\(more)"
  }
}

extension SyncError {
  fileprivate var itemWords: String { itemErrors.words }
}

extension Settlement {
  fileprivate var words: String {
    var counts: [(word: String, count: Int)] = []
    for verdict in verdicts {
      let word = verdict.word
      if let place = counts.firstIndex(where: { $0.word == word }) {
        counts[place].count += 1
      } else {
        counts.append((word, 1))
      }
    }
    var parts = counts.map { "\($0.count) \($0.word)" }
    if let zone { parts.append("zone \(zone)") }
    if let account { parts.append("account \(account)") }
    if isTooLarge { parts.append("too large") }
    if let wait, let length = wait.nanoseconds { parts.append("waits \(TimeText.length(length))") }
    if let halt { parts.append("halts for \(halt.code)") }
    return parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
  }
}

extension ItemVerdict {
  /// The verdict in a word or two, and the code of its error.
  var word: String {
    switch self {
    case .again(let error, _), .park(let error), .parkForQuota(let error): "\(name) \(error.code)"
    default: name
    }
  }

  /// The name of the case.
  var name: String {
    switch self {
    case .saved: "saved"
    case .deleted: "deleted"
    case .alreadyThere: "alreadyThere"
    case .resolved: "resolved"
    case .lookUp: "lookUp"
    case .recreate: "recreate"
    case .stay: "stay"
    case .again: "again"
    case .park: "park"
    case .parkForQuota: "parkForQuota"
    }
  }

  /// Why, if something went wrong.
  var error: SyncError? {
    switch self {
    case .again(let error, _), .park(let error), .parkForQuota(let error): error
    default: nil
    }
  }
}

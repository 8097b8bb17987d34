import CloudSyncCore

extension SyncEvent {
  /// The event in words, its name first.
  ///
  /// - Parameters:
  ///   - input: The event as it came in, which has the response where this one has what it means.
  ///   - decisions: What the app's closures decided meanwhile.
  /// - Returns: The words, without the values of records.
  func words(input: SyncEvent?, decisions: [Decision]) -> String {
    let description = EventDescription(showsNames: true)
    var text = description.line(of: self)
    if let input, input.name != name {
      text += " (came in as \(input.name)\(description.text(of: input.itemFailures)))"
    }
    return text + Self.words(decisions: decisions)
  }

  /// The records that a response names as failed.
  private var itemFailures: [ItemFailure] {
    switch self {
    case .workSuccess(_, .modify(let response)): response.failures
    case .workFailure(_, let error): error.itemErrors
    default: []
    }
  }

  private static func words(decisions: [Decision]) -> String {
    var text = ""
    for decision in decisions.prefix(4) {
      switch decision {
      case .conflict(let recordID, let resolution):
        text += "; \(Phrase.readable(recordID.name)) decided: \(resolution.word)"
      case .expiredToken(let token):
        text += token == nil ? "; decided: fetch everything" : "; decided: fetch from a token"
      case .alreadyInCloud(let recordID):
        text += "; the cloud has \(Phrase.readable(recordID.name)) already as it was to be saved"
      case .ancestor(let record):
        text += "; \(Phrase.readable(record.recordID.name)) is measured from what it was made of"
      }
    }
    return decisions.count > 4 ? text + "; and \(decisions.count - 4) more" : text
  }
}

extension ConflictResolution {
  /// The name of the response.
  var word: String {
    switch self {
    case .save: "save"
    case .park: "park"
    case .later: "later"
    case .halt: "halt"
    }
  }
}

extension ItemVerdict {
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

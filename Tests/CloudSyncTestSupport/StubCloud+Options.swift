package import CloudSyncCore

extension StubCloud {
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
    /// Whether that includes a request of which items were refused; else those are judged anew.
    package var remembersRefusals = true
    /// Whether a save must carry the record's change tag.
    package var checksChangeTags = true
    /// Whether a conflict comes with the client's record and the server's.
    package var tellsConflictingRecords = true
    /// Whether the deletion of a record that does not exist is refused with `unknownItem`.
    package var refusesMissingDeletions = false
    /// Whether saved records are told in another order than that of the request.
    package var reversesSavedRecords = false
    /// How many changes a page holds.
    package var pageSize = 400
    /// How long every response takes.
    package var delay = Duration.zero
    /// Whether the zone exists from the beginning.
    package var hasZone = true
    /// Who is signed in at the beginning.
    package var account = "A"
    /// Refuses single items, whatever their tags.
    package var refuse: @Sendable (_ recordID: RecordID, _ edit: Record?) -> SyncError? = { _, _ in
      nil
    }

    package init() {}
  }

  /// What goes wrong with a call.
  package enum Fault: Sendable, Hashable {
    /// Nothing is done, and the response says that the response was lost.
    case lostBefore
    /// The request is carried out, and the response says that the response was lost.
    case lostAfter
    /// Nothing is done, and this is the response.
    case failure(SyncError)
    /// The request is carried out, and this is the response all the same.
    case failureAfter(SyncError)
    /// Nothing is done, and no response comes.
    case never
    /// The request is carried out, and no response comes.
    case neverAfter
    /// The response comes, and once more after a while, the second time as a failure or not.
    case duplicate(again: Duration, fails: Bool = false)
    /// The request is carried out at once, the response comes later.
    case delay(Duration)
    /// These items fail, whatever the cloud would say of them.
    case items([ItemFailure])
    /// The response says nothing of one item that was carried out, counted over saves and deletions.
    case silence(item: Int)
    /// A page says that more follows and brings nothing.
    case stuckPage
    /// The response says that zone or subscription was not created, and it was not.
    case refusal

    /// Whether the session never learns what became of the request.
    package var isLoss: Bool {
      switch self {
      case .lostBefore, .lostAfter, .never, .neverAfter: true
      default: false
      }
    }

    /// Whether the cloud does what it was asked for, but for what the fault says.
    package var isCarriedOut: Bool {
      switch self {
      case .lostBefore, .failure, .never: false
      default: true
      }
    }
  }

  /// A response, and how long after the call it is given.
  package struct Reply: Sendable {
    package var delay = Duration.zero
    package var answer: Answer
  }
}

extension StubCloud.Fault {
  package static func failure(_ code: SyncError.Code, retryAfter: Duration? = nil) -> Self {
    .failure(SyncError(code, retryAfter: retryAfter))
  }

  var itemFailures: [ItemFailure] { if case .items(let failures) = self { failures } else { [] } }

  /// What is answered in place of the cloud's own answer; nil if nothing was carried out.
  func replies(to answer: StubCloud.Answer?) -> [StubCloud.Reply] {
    let answer = answer ?? .failure(SyncError(.serverResponseLost))
    switch self {
    case .never, .neverAfter: return []
    case .lostBefore, .lostAfter:
      return [StubCloud.Reply(answer: .failure(SyncError(.serverResponseLost)))]
    case .failure(let error), .failureAfter(let error):
      return [StubCloud.Reply(answer: .failure(error))]
    case .duplicate(let pause, let fails):
      let second = fails ? .failure(SyncError(.internalError)) : answer
      return [StubCloud.Reply(answer: answer), StubCloud.Reply(delay: pause, answer: second)]
    case .delay(let pause): return [StubCloud.Reply(delay: pause, answer: answer)]
    case .items, .silence, .stuckPage, .refusal: return [StubCloud.Reply(answer: answer)]
    }
  }
}

extension ModifyOperation.Response {
  /// Leaves one item that was carried out unmentioned.
  mutating func leaveOut(_ item: Int) {
    if item < savedRecords.count {
      savedRecords.remove(at: item)
    } else if item - savedRecords.count < deletedRecordIDs.count {
      deletedRecordIDs.remove(at: item - savedRecords.count)
    }
  }
}

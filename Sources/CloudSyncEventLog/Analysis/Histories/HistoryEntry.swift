public import CloudSyncCore

/// Something that happened to a record or to an operation.
public struct HistoryEntry: Sendable, Hashable, Codable {
  /// What happened; the words say more.
  public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// It was there already when the log began.
    case found
    /// An operation with it was submitted.
    case queued
    /// Its edit was merged with another one, so that both travel as one.
    case merged
    /// It was put into a request.
    case sent
    /// It was sent again unchanged, because the response had been lost.
    case repeated
    /// The cloud's record was asked for after a conflict.
    case lookedUp
    /// The request's answer was lost: nobody knows whether it was carried out.
    case responseLost
    /// The request failed as a whole and is made again.
    case retried
    /// The request was too large, or one item spoilt it: less is sent next time.
    case split
    /// The cloud's record had been changed by somebody else.
    case conflict
    /// The conflict was resolved, and the result is sent next.
    case resolved
    /// The cloud refused it.
    case refused
    /// It stays in its place and is sent again.
    case stayed
    /// It was set aside with its error.
    case parked
    /// It was taken back from where it had been set aside.
    case returned
    /// It is in the cloud.
    case saved
    /// It is gone from the cloud.
    case deleted
    /// It came with a page of changes.
    case fetched
    /// A page of changes said that it is gone from the cloud.
    case fetchedDeletion
    /// The app dropped it while it was set aside.
    case dropped
    /// The app asked for it to be given up.
    case cancelled
    /// It was given up.
    case givenUp
    /// The operation ended: each record of it is saved, deleted or set aside.
    case completed
    /// The end of the operation, or a page, was announced to the app.
    case announced
  }

  /// The number of the event; that of the last one before the log for what it began with.
  public let sequence: UInt64
  /// When it happened.
  public let time: Timestamp
  /// What happened.
  public let kind: Kind
  /// The request that it is about, if it is about one.
  public let attempt: Attempt?
  /// The error's code, if something went wrong.
  public let error: String?
  /// The same in words.
  public let text: String

  init(
    _ kind: Kind,
    at step: LogFold.Step,
    attempt: Attempt? = nil,
    error: SyncError.Code? = nil,
    text: String
  ) {
    self.init(
      kind,
      sequence: step.sequence,
      time: step.time,
      attempt: attempt,
      error: error.map(\.description),
      text: text
    )
  }

  init(
    _ kind: Kind,
    sequence: UInt64,
    time: Timestamp,
    attempt: Attempt? = nil,
    error: String? = nil,
    text: String
  ) {
    self.sequence = sequence
    self.time = time
    self.kind = kind
    self.attempt = attempt
    self.error = error
    self.text = text
  }

  /// The entry in one line.
  ///
  /// - Parameter start: The time that offsets count from: when the log begins.
  /// - Returns: The line, without what a terminal would take for a command.
  public func line(start: Timestamp) -> String {
    "\(TimeText.offset(of: time, from: start)) #\(sequence) \(kind.rawValue): \(text)"
  }
}

extension LogError.Code {
  /// The log says nothing about what was asked for.
  public static let notFound = LogError.Code(rawValue: "notFound")
}

extension PendingChange {
  /// The numbers of the operations whose edits it carries.
  var sources: [UInt64] { (source == 0 ? [] : [source]) + furtherSources }
}

extension SyncEvent {
  /// The error that the event is about as a whole, if it is about one.
  var mainError: SyncError? {
    switch self {
    case .halt(let error), .workFailure(_, let error), .failFetch(_, let error),
      .startOver(_, _, let error):
      error
    case .retry(_, let retry): retry.error
    case .split(_, let split): split.error
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      settlement.halt ?? settlement.error
    default: nil
    }
  }

  /// The verdicts about the entries of a request, in their order.
  var verdicts: [ItemVerdict] {
    switch self {
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement): settlement.verdicts
    default: []
    }
  }
}

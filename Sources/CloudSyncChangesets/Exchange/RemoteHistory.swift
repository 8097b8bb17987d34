import CloudSyncCore
import CloudSyncSQLiteSupport

/// How far the cloud's own history had come with all that is stored of it, by which a cloud that was put back from a
/// backup is recognized: then everything is sent that it lacks.
final class RemoteHistory: Sendable {
  /// Carries the session's requests, and shows with each what the cloud has told.
  let handler: HistoryKeepingHandler
  /// What was stored when it was looked at last, and what was to be stored then.
  private let stored: Locked<(found: [ChangeToken], written: [ChangeToken])>

  init(
    _ handler: any OperationHandler,
    in repository: ChangesetRepository
  ) throws(ChangesetError) {
    let tokens = try repository.read { (work) throws(ChangesetError) in
      try Self.tokens(in: work)
    }
    self.handler = HistoryKeepingHandler(handler, tokens: tokens)
    stored = Locked((tokens, tokens))
  }

  /// Stores it together with what the cloud has told, or has taken.
  func store(in work: HistoryWork) throws(ChangesetError) {
    let present = try Self.tokens(in: work)
    let known = stored.withLock { $0 }
    // Another process may have stored what only it was told; what this one has written may have been undone.
    if present != known.written { handler.take(present, insteadOf: known.found) }
    let tokens = handler.tokens
    stored.withLock { $0 = (present, tokens) }
    if tokens == present { return }
    try work.info.set(.shown, .text(ChangeToken.text(of: tokens)))
  }

  private static func tokens(in work: HistoryWork) throws(ChangesetError) -> [ChangeToken] {
    ChangeToken.tokens(in: try work.info.text(name: .shown) ?? "")
  }
}

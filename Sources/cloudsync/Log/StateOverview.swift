import CloudSyncCore
import CloudSyncEventLog

/// What somebody wants to know of a state first.
struct StateOverview: Encodable {
  var event: UInt64
  var time: String
  var epoch: UInt64
  var explanation: String
  var inFlight: String?
  var zone: String
  var account: String
  var queuedModifications: Int
  var queuedFetches: Int
  var parked: [String]
  var done: Int
  var submitted: Int
  var notDone: Int
  var error: String?

  private static let listLimit = 20

  init(_ state: SyncState, at time: Timestamp) {
    let explanation = state.explain(at: time)
    event = state.eventCount
    self.time = TimeText.date(time)
    epoch = state.epoch
    self.explanation = explanation.description
    inFlight = state.flight.map(StateDescription.text)
    zone = StateDescription.text(of: state.zoneState)
    account = StateDescription.text(of: state.accountState)
    queuedModifications = state.modifyQueue.count
    queuedFetches = state.fetchQueue.count
    parked = state.parkedRecords.map { "\($0.recordID.name): \($0.error.code)" }
    done = state.progress.done
    submitted = state.progress.submitted
    notDone = state.progress.notDone
    error = explanation.error.map { "\($0)" }
  }

  /// The same in lines of words.
  var text: String {
    let queued =
      "\(Phrase.count(queuedModifications, "modification")), "
      + Phrase.count(queuedFetches, "fetch", plural: "fetches")
    var lines = [
      "after event \(event), \(time)",
      "  \(explanation)",
      "in flight:      \(inFlight ?? "nothing")",
      "zone:           \(zone)",
      "account:        \(account)",
      "queued:         \(queued)",
      "progress:       \(done) of \(submitted) items done, \(notDone) parked or given up",
      "epoch:          \(epoch)",
    ]
    if let error { lines.append("error:          \(error)") }
    lines.append(
      "parked:         \(parked.isEmpty ? "nothing" : Phrase.count(parked.count, "record"))"
    )
    lines += parked.prefix(Self.listLimit).map { "  \($0)" }
    if parked.count > Self.listLimit {
      lines.append("  … and \(parked.count - Self.listLimit) more")
    }
    return lines.joined(separator: "\n")
  }
}

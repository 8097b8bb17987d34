import CloudSyncSQLite

/// How far a run has come: of all that was ever seen to be done, how much is left.
///
/// Rows that turn out to be in the cloud already are done without being sent, so what was sent says too little.
struct SyncProgress: Equatable {
  /// The most that was ever left and done together.
  private(set) var total = 0
  /// How much of it is left.
  private(set) var left = 0
  private(set) var received = 0

  private static let width = 20

  /// How many of a hundred parts are done: it may fall only when more to do is found.
  var percent: Int { total == 0 ? 0 : 100 * (total - left) / total }

  /// Takes what the engine is doing.
  mutating func note(_ activity: SyncActivity) {
    let now = activity.sending + activity.counts.pending
    received = activity.counts.received
    // What is new comes on top of what was done before.
    if now > left { total += now - left }
    left = now
    total = max(total, activity.counts.sent + left)
  }

  /// Takes that nothing is left but what waits for others or was rejected.
  mutating func end(_ activity: SyncActivity) {
    note(activity)
    left = 0
  }

  /// A bar and the numbers.
  var text: String {
    guard total > 0 else { return "\(received) received" }
    let filled = Self.width * (total - left) / total
    let bar =
      String(repeating: "#", count: filled) + String(repeating: "·", count: Self.width - filled)
    return "[\(bar)] \(percent) %, \(total - left) of \(total) rows up, \(received) received"
  }
}

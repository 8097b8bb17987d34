import CloudSyncCore
import CloudSyncEventLog
import CloudSyncSQLite

/// What has been done, and what is left.
struct SyncSummary {
  private let run: SyncRun
  private let counts: SyncCounts
  private let isUpdate: Bool

  /// How many records are shown that are held.
  private static let shown = 20

  /// The summary of a run; since a former one if there is any.
  init(_ run: SyncRun, since former: SyncCounts? = nil) {
    self.run = run
    var counts = run.counts
    isUpdate = former != nil
    if let former {
      counts.sent -= former.sent
      counts.received -= former.received
      counts.merged -= former.merged
      counts.parked -= former.parked
    }
    self.counts = counts
  }

  /// The result for scripts.
  private struct Report: Encodable {
    var database: String
    var cloud: String
    var device: String
    var time: String
    var sent: Int
    var received: Int
    var merged: Int
    var parked: Int
    /// What is held in the database, from whenever.
    var held: Int
    var pending: Int
  }

  func show(console: Console) throws {
    let metadata = try SyncMetadata.read(from: run.database)
    let (parked, waiting) = (metadata?.parked ?? [], metadata?.waiting ?? [])
    if run.request.isJSON {
      let report = Report(
        database: run.request.path,
        cloud: run.request.cloud,
        device: run.request.device,
        time: TimeText.date(SyncEnvironment.live.now()),
        sent: counts.sent,
        received: counts.received,
        merged: counts.merged,
        parked: counts.parked,
        held: parked.count + waiting.count,
        pending: metadata?.counts.pending ?? 0
      )
      let line =
        try isUpdate || run.request.isWatching
        ? JSONText.line(for: report) : JSONText.block(for: report)
      return console.line(line)
    }
    let time =
      run.request.isWatching
      ? console.styled(TimeText.date(SyncEnvironment.live.now()), as: .faint) + "  " : ""
    console.line(
      "\(time)sent \(counts.sent), received \(counts.received), merged \(counts.merged),"
        + " parked \(counts.parked)"
    )
    if isUpdate, counts.parked == 0 { return }
    show(held: parked, word: "parked", console: console)
    show(held: waiting, word: "waiting", console: console)
  }

  private func show(
    held: [SyncMetadata.HeldRecord],
    word: String,
    console: Console
  ) {
    for one in held.prefix(Self.shown) {
      console.line("  \(console.styled(word, as: .warning)): \(one.table) \(one.key): \(one.words)")
    }
    if held.count > Self.shown {
      console.line(
        "  and \(held.count - Self.shown) more: see “cloudsync status \(run.request.path)”"
      )
    }
  }
}

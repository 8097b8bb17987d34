import CloudSyncCore
import CloudSyncEventLog
import CloudSyncSQLite

/// What has been done, and what is left.
struct SyncSummary {
  private let run: SyncRun
  private let counts: SyncCounts
  private let isUpdate: Bool
  private let firstSync: FirstSync?
  private let verification: SyncVerification?
  private let metadata: SyncMetadata?
  /// The rows that have become one with others.
  let united: [UnitedRow]

  /// How many records are shown that are held.
  private static let shown = 20

  /// The summary of a run; since a former one if there is any.
  init(
    _ run: SyncRun,
    since former: SyncCounts? = nil,
    firstSync: FirstSync? = nil,
    verification: SyncVerification? = nil
  ) throws {
    metadata = try SyncMetadata.read(from: run.database)
    self.run = run
    united = run.takeUnitedRows()
    self.firstSync = firstSync
    self.verification = verification
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
    /// The rows that have become one with others because of a unique key.
    var united: [UnitedRow.Report]
    /// The rows that are parked, from whenever.
    var parked: Int
    /// Those that wait for other rows.
    var waiting: Int
    /// The rows that are parked or waiting, from whenever.
    var held: [HeldReport]
    /// The records that cannot be read, from whenever.
    var unreadable: Int
    var pending: Int
    /// The rows whose edits stay in this copy, because of a filter.
    var local: Int
    /// The tables that are new and not synced.
    var newTables: [String]
    /// The rows of a copy that was never synced before which took the cloud's values.
    var replaced: Int?
    /// Those of such a copy which were deleted because the cloud knows them to be.
    var deleted: Int?
    var verification: Verification?
  }

  private struct Verification: Encodable {
    struct Difference: Encodable {
      var table: String?
      var key: String?
      var record: String
      var reason: String
    }

    var rows: Int
    var records: Int
    var tombstones: Int
    var open: Int
    var differences: [Difference]

    init(_ verification: SyncVerification) {
      rows = verification.rows
      records = verification.records
      tombstones = verification.tombstones
      open = verification.openRows
      differences = verification.differences.map {
        Difference(table: $0.table, key: $0.key, record: $0.recordName, reason: $0.reason)
      }
    }
  }

  /// Whether rows are parked because they were rejected, or records because they cannot be read.
  var hasParked: Bool { metadata?.hasParked == true }

  private var unreadable: [SyncMetadata.UnreadableRecord] { metadata?.unreadableRecords ?? [] }

  func show(console: Console) throws {
    let (parked, waiting) = (metadata?.parked ?? [], metadata?.waiting ?? [])
    if let warning = UnitedRow.warning(of: united, path: run.request.path) { console.note(warning) }
    if run.request.isJSON {
      let report = Report(
        database: run.request.path,
        cloud: run.request.cloud,
        device: run.request.device,
        time: TimeText.date(SyncEnvironment.live.now()),
        sent: counts.sent,
        received: counts.received,
        merged: counts.merged,
        united: united.map { UnitedRow.Report($0) },
        parked: parked.count,
        waiting: waiting.count,
        held: metadata.map { metadata in
          (parked + waiting).map { HeldReport($0, in: metadata) }
        } ?? [],
        unreadable: unreadable.count,
        pending: metadata?.counts.pending ?? 0,
        local: metadata?.counts.local ?? 0,
        newTables: run.newTables,
        replaced: firstSync?.replacedCount,
        deleted: firstSync?.deletedCount,
        verification: verification.map { Verification($0) }
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
        + " parked \(parked.count)" + (waiting.isEmpty ? "" : ", waiting \(waiting.count)")
        + (united.isEmpty ? "" : ", united \(united.count)") + localRows
    )
    show(
      lines: united.map { "\(console.styled("united", as: .warning)): \($0.words)" },
      rest: "",
      console: console
    )
    if isUpdate, counts.parked == 0 { return }
    show(held: parked, word: "parked", console: console)
    show(held: waiting, word: "waiting", console: console)
    show(
      lines: unreadable.map { "cannot be read: \($0.recordName): \(Words.line($0.reason))" },
      console: console
    )
    if let verification { show(verification, console: console) }
  }

  private var localRows: String {
    guard let local = metadata?.counts.local, local > 0 else { return "" }
    return "; \(Phrase.count(local, "row")) stay\(local == 1 ? "s" : "") in this copy"
  }

  private func show(_ verification: SyncVerification, console: Console) {
    for one in verification.differences {
      let row = one.table.map { Words.row($0, key: one.key ?? "") } ?? "record \(one.recordName)"
      console.line("  \(console.styled("differs", as: .bad)): \(row): \(Words.line(one.reason))")
    }
    let open =
      verification.openRows == 0
      ? "" : "; left out: \(Phrase.count(verification.openRows, "row")) not in sync yet"
    let tombstones =
      verification.tombstones == 0
      ? "" : " (\(verification.tombstones) of deleted rows)"
    console.line(
      "compared \(Phrase.count(verification.rows, "row")) with"
        + " \(Phrase.count(verification.records, "record"))\(tombstones):"
        + " \(Phrase.count(verification.differences.count, "difference"))\(open)"
    )
    if !verification.differences.isEmpty, !run.request.isRescanning {
      console.line(
        "  --rescan finds edits that no trigger has captured, and large values that the cloud has lost,"
          + " and sends them"
      )
    }
  }

  private func show(
    held: [SyncMetadata.HeldRecord],
    word: String,
    console: Console
  ) {
    show(
      lines: held.map {
        "\(console.styled(word, as: .warning)): \(Words.row($0.table, key: $0.key)): \(words(for: $0))"
      },
      console: console
    )
  }

  private func words(for held: SyncMetadata.HeldRecord) -> String {
    Words.line(metadata?.reason(for: held) ?? held.status.name)
  }

  /// Shows the first of some lines, and where the rest is told.
  private func show(lines: [String], rest: String? = nil, console: Console) {
    for line in lines.prefix(Self.shown) { console.line("  \(line)") }
    if lines.count > Self.shown {
      let place = rest ?? ": see “cloudsync status \(run.request.path.argument)”"
      console.line("  and \(lines.count - Self.shown) more\(place)")
    }
  }
}

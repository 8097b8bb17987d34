import CloudSyncSQLite
import Dispatch
import CloudSyncCore

/// `cloudsync sync --dry-run`: what would be done.
struct SyncRehearsal {
  private let request: SyncCommand.Request
  private let target: DatabaseArguments

  init(_ request: SyncCommand.Request, in target: DatabaseArguments) {
    self.request = request
    self.target = target
  }

  /// The result for scripts.
  private struct Report: Encodable {
    struct Change: Encodable {
      var table: String
      var key: String
      var action: String
      var columns: [String]?

      init(_ change: SyncPreview.Change) {
        table = change.table
        key = change.key
        action = change.word
        if case .update(let columns) = change.action { self.columns = columns }
      }
    }
    struct Refusal: Encodable {
      var table: String
      var key: String
      var reason: String

      init(_ refusal: SyncPreview.Refusal) {
        table = refusal.table
        key = refusal.key
        reason = refusal.reason
      }
    }

    var database: String
    var cloud: String
    /// Whether the cloud's file would be created.
    var createsCloud: Bool
    /// Whether the zone would be created.
    var createsZone: Bool
    var isForbidden: Bool
    var errors: [String]
    var sent: [Change]
    var applied: [Change]
    /// The rows that would become one with others.
    var united: [UnitedRow.Report]
    var refused: [Refusal]
    var waiting: [Refusal]
    var unknownRecords: Int
    /// How many of the deletions here are of rows that were never synchronized.
    var endedRows: Int
    /// How many rows stay in this copy with their edits, because of a filter.
    var localRows: Int
  }

  func run(console: Console) throws {
    let database = try target.naming {
      try DatabaseFile(
        path: request.path,
        access: .readWrite,
        enforcesForeignKeys: request.enforcesForeignKeys
      )
    }
    let folder = try NewFolder.makeTemporary(for: "dry-run", option: "--dry-run")
    defer { NewFolder.removeTemporary(at: folder) }
    let createsCloud = request.server == nil && CloudFile.isMissing(request.cloud)
    let cloud = try SyncCommand.open(request, stagingIn: folder, isRehearsal: true)
    let relation = try target.naming { try cloud.check(request, console: console) }
    let preview = try repeating(console: console) {
      try self.preview(
        database: database,
        cloud: cloud,
        attachedTo: request.isAttaching ? relation.attached(creates: request.creates) : nil,
        folder: folder
      )
    }
    if request.isJSON {
      let report = Report(
        database: request.path,
        cloud: request.cloud,
        createsCloud: createsCloud && !preview.isForbidden,
        createsZone: !preview.hasZone && !preview.isForbidden,
        isForbidden: preview.isForbidden,
        errors: preview.violations.filter { !$0.isWarning }.map(\.reason),
        sent: preview.sent.map { Report.Change($0) },
        applied: preview.applied.map { Report.Change($0) },
        united: preview.united.map { UnitedRow.Report($0) },
        refused: preview.refused.map { Report.Refusal($0) },
        waiting: preview.waiting.map { Report.Refusal($0) },
        unknownRecords: preview.unknownRecords,
        endedRows: preview.endedRows,
        localRows: preview.localRows
      )
      console.line(try JSONText.block(for: report))
    } else {
      show(preview: preview, createsCloud: createsCloud, console: console)
    }
    if preview.isForbidden { throw ToolError.negative }
  }

  /// Looks again as long as the server is away, as a sync does; the user may end it.
  private func repeating(
    console: Console,
    _ look: () throws -> SyncPreview
  ) throws -> SyncPreview {
    var patience = ServerPatience(name: request.cloud, console: console)
    while true {
      do { return try look() } catch let error as SyncError {
        guard request.server != nil, patience.waits(after: error) else { throw error }
      }
    }
  }

  private func preview(
    database: DatabaseFile,
    cloud: any CloudPlace,
    attachedTo attached: AttachedCloud?,
    folder: String
  ) throws -> SyncPreview {
    let result = Locked<Result<SyncPreview, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    var options = request.options
    options.assets = cloud.assets(stagedIn: folder)
    SyncEngine.dryRun(
      database: database,
      tables: request.tables,
      zoneID: request.zoneID,
      operationHandler: cloud.handler,
      options: options,
      attachedTo: attached
    ) { new in
      result.withLock { $0 = new }
      done.signal()
    }
    done.wait()
    guard let result = result.withLock({ $0 }) else {
      throw ToolError.failure("\(request.path): it could not be looked at")
    }
    return try target.naming { try result.get() }
  }

  // MARK: Words

  private func show(preview: SyncPreview, createsCloud: Bool, console: Console) {
    for violation in preview.violations {
      console.line("\(console.styled("schema", as: .warning)): \(violation)")
    }
    if preview.isForbidden {
      return console.line("nothing would be done: see “cloudsync check \(request.path.argument)”")
    }
    if createsCloud { console.line("the file “\(request.cloud)” would be created") }
    if !preview.hasZone { console.line("the zone “\(request.zoneID.name)” would be created") }
    show(changes: preview.sent, title: "would be sent", console: console)
    show(changes: preview.applied, title: "would be stored", console: console)
    for row in preview.united {
      console.line("\(console.styled("would be united", as: .warning)): \(row.words)")
    }
    for refusal in preview.refused { show(refusal: refusal, word: "rejected", console: console) }
    for refusal in preview.waiting { show(refusal: refusal, word: "waiting", console: console) }
    if preview.unknownRecords > 0 {
      console.line(
        "\(Phrase.count(preview.unknownRecords, "record")) would be kept for tables that are not here"
      )
    }
    if preview.endedRows > 0 {
      console.line(
        console.styled(
          "\(Phrase.count(preview.endedRows, "row")) of this copy would be deleted, because others have deleted"
            + " \(preview.endedRows == 1 ? "it" : "them")",
          as: .warning
        )
      )
    }
    if preview.localRows > 0 {
      console.line(
        "\(Phrase.count(preview.localRows, "row")) would stay in this copy, because of --filter"
      )
    }
    console.line(
      "would send \(preview.sent.count), store \(preview.applied.count),"
        + " reject \(preview.refused.count), leave \(preview.waiting.count) waiting"
    )
  }

  private func show(changes: [SyncPreview.Change], title: String, console: Console) {
    for change in changes {
      var columns = ""
      if case .update(let names) = change.action, !names.isEmpty {
        columns = " (\(names.joined(separator: ", ")))"
      }
      console.line("\(title): \(change.word) \(Words.row(change.table, key: change.key))\(columns)")
    }
  }

  private func show(refusal: SyncPreview.Refusal, word: String, console: Console) {
    console.line(
      "\(console.styled(word, as: .warning)): \(Words.row(refusal.table, key: refusal.key)):"
        + " \(Words.line(refusal.reason))"
    )
  }
}

extension SyncPreview.Change {
  fileprivate var word: String {
    switch action {
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    }
  }
}

import CloudSyncCore
import CloudSyncEventLog
import CloudSyncSQLite

/// `cloudsync status`: what is known of a database's synchronization.
enum StatusCommand {
  static var command: Command {
    Command(
      path: ["status"],
      summary: "Show what of a database is in the cloud, what is not, and why.",
      operands: ["DATABASE"],
      options: [.json],
      discussion: """
        The file stays as it is. A record is synced if the cloud has what the row has, pending if it has an
        edit that is not in the cloud yet, local if the edit stays in this copy because of a row filter,
        waiting if it needs another record first, and parked if the cloud or the database has rejected it.
        In JSON synced records are “clean” and pending ones “dirty”. Rows whose key is NULL have no record.
        The exit code is 3 if rows are parked or records cannot be read, as that of “cloudsync sync” is.
        """,
      run: run
    )
  }

  /// The result for scripts.
  private struct Report: Encodable {
    struct Counts: Encodable {
      var clean: Int
      var dirty: Int
      var local: Int
      var waiting: Int
      var parked: Int

      init(_ counts: SyncMetadata.Counts) {
        clean = counts.clean
        dirty = counts.dirty
        local = counts.local
        waiting = counts.waiting
        parked = counts.parked
      }
    }
    struct Table: Encodable {
      var name: String
      var filter: String?
      var change: String?
      var records: Counts
    }
    struct Unreadable: Encodable {
      var record: String
      var reason: String
    }

    struct Unnamed: Encodable {
      var table: String
      var row: Int64?
      var reason: String
    }

    var database: String
    var version: Int
    var lastSync: String?
    var unknownRecords: Int
    var records: Counts
    var tables: [Table]
    /// The tables that stay in this copy.
    var otherTables: [String]
    var held: [HeldReport]
    var unreadable: [Unreadable]
    /// At most a hundred of each table.
    var unnamed: [Unnamed]

    init(of path: String, _ metadata: SyncMetadata, otherTables: [String]) {
      self.otherTables = otherTables
      database = path
      version = metadata.version
      lastSync = metadata.lastSync.map { TimeText.date($0) }
      unknownRecords = metadata.unknownRecords
      records = Counts(metadata.counts)
      tables = metadata.tables.map {
        Table(
          name: $0.name,
          filter: $0.rowFilter,
          change: $0.change?.words,
          records: Counts($0.counts)
        )
      }
      held = (metadata.parked + metadata.waiting).map { HeldReport($0, in: metadata) }
      unreadable = metadata.unreadableRecords.map {
        Unreadable(record: $0.recordName, reason: $0.reason)
      }
      unnamed = metadata.unnamedRows.map {
        Unnamed(table: $0.table, row: $0.rowNumber, reason: $0.reason)
      }
    }
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let target = DatabaseArguments(arguments)
    let database = try target.open(access: .readOnly)
    guard let metadata = try target.naming(body: { try SyncMetadata.read(from: database) }) else {
      throw ToolError.failure(
        "\(target.path): it is not synced; begin with “cloudsync sync \(target.path.argument) --all --cloud CLOUD --create”"
      )
    }
    let names = try target.naming { try SyncEngine.tableNames(in: database) }
    let others = names.filter { name in !metadata.tables.contains { $0.name == name } }
    if arguments.has("--json") {
      let report = Report(of: target.path, metadata, otherTables: others)
      console.line(try JSONText.block(for: report))
    } else {
      show(metadata: metadata, path: target.path, console: console)
      if !others.isEmpty {
        console.line()
        console.line(console.styled("not synced", as: .heading))
        console.line(
          "  \(others.joined(separator: ", ")): “cloudsync sync \(target.path.argument) --cloud CLOUD --all” adds"
            + " \(others.count == 1 ? "it" : "them"); or name all tables with --tables"
        )
      }
    }
    if metadata.hasParked { throw ToolError.parked }
  }

  private static func show(metadata: SyncMetadata, path: String, console: Console) {
    let time = metadata.lastSync.map { "last on \(TimeText.date($0))" } ?? "never completely"
    console.line("\(console.styled(path, as: .heading)): synced \(time)")
    console.line()
    let filtered = metadata.tables.filter { $0.rowFilter != nil }
    let local = filtered.isEmpty && metadata.counts.local == 0 ? [] : ["local"]
    var rows = [["table", "synced", "pending"] + local + ["waiting", "parked"]]
    func row(name: String, counts: SyncMetadata.Counts) -> [String] {
      let kept = local.isEmpty ? [] : [counts.local]
      return [name]
        + ([counts.clean, counts.dirty] + kept + [counts.waiting, counts.parked]).map { "\($0)" }
    }
    rows += metadata.tables.map { row(name: Words.shown($0.name), counts: $0.counts) }
    if metadata.tables.count > 1 { rows.append(row(name: "all", counts: metadata.counts)) }
    for line in Words.table(of: rows) { console.line(line) }
    if !filtered.isEmpty {
      console.line()
      console.line(console.styled("filtered", as: .heading))
      for table in filtered {
        console.line(
          "  \(Words.shown(table.name)): sends only rows with \(Words.line(table.rowFilter ?? ""))"
        )
      }
    }
    let changed = metadata.tables.filter { $0.change != nil }
    if !changed.isEmpty {
      console.line()
      console.line(console.styled("changed", as: .heading))
      for table in changed {
        console.line("  \(Words.shown(table.name)): \(table.change?.words ?? "")")
      }
    }
    for (title, held) in [("parked", metadata.parked), ("waiting", metadata.waiting)]
    where !held.isEmpty {
      console.line()
      console.line(console.styled(title, as: .heading))
      for one in held {
        console.line(
          "  \(Words.row(one.table, key: one.key)): \(Words.line(metadata.reason(for: one)))"
        )
      }
    }
    if !metadata.unreadableRecords.isEmpty {
      console.line()
      console.line(console.styled("cannot be read", as: .heading))
      for record in metadata.unreadableRecords {
        console.line("  \(record.recordName): \(Words.line(record.reason))")
      }
    }
    if !metadata.unnamedRows.isEmpty {
      console.line()
      console.line(console.styled("left out", as: .heading))
      for row in metadata.unnamedRows { console.line("  \(row.reason)") }
    }
    if metadata.unknownRecords > 0 {
      console.line()
      console.line(
        "The cloud has \(Phrase.count(metadata.unknownRecords, "record")) for tables that are not here."
      )
    }
  }
}

extension SyncMetadata {
  /// Whether rows are parked because they were rejected, or records because they cannot be read.
  var hasParked: Bool { !parked.isEmpty || !unreadableRecords.isEmpty }
}

extension SyncMetadata.Change {
  /// What it means for the counts, in one line.
  fileprivate var words: String {
    let next = "the next sync finds what was edited meanwhile"
    return switch self {
    case .rebuilt: "it was rebuilt, has lost triggers, or has a new one of the app's; \(next)"
    case .hasNewColumns(let columns):
      "it has got \(Phrase.count(columns.count, "column")) (\(columns.joined(separator: ", "))); \(next)"
    case .missing: "it is missing"
    }
  }
}

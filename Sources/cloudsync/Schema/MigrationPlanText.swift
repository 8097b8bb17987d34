import CloudSyncCore
import CloudSyncSQLite

/// The plan of a migration, for people and for scripts.
struct MigrationPlanText {
  private let request: MigrationRequest
  private let plan: KeyMigrationReport
  private let fixed: [SchemaViolation]
  /// Columns that look like references and that nobody has decided about.
  let open: [UndeclaredReference]
  /// What stands in the way of a sync afterwards; nil if that is not known.
  var obstacles: [SchemaViolation]?

  init(_ request: MigrationRequest, _ plan: KeyMigrationReport, fixed: [SchemaViolation]) {
    self.request = request
    self.plan = plan
    self.fixed = fixed
    open = request.open(plan.undeclaredReferences)
  }

  /// Whether rows get new keys.
  var givesKeys: Bool {
    plan.tables.contains { table in
      switch table.key {
      case .uuid, .added: table.rows > 0
      case .counted, nil: false
      }
    }
  }

  // MARK: Words

  func show(console: Console) {
    if plan.tables.isEmpty, fixed.isEmpty {
      return console.line("no table needs it")
    }
    console.line(
      request.isDryRun || !open.isEmpty
        ? "This would be done:" : "Migrating \(request.output ?? request.path):"
    )
    for table in plan.tables { show(table, console: console) }
    for violation in fixed { console.line("  \(violation.table): \(Self.words(for: violation))") }
    if !plan.warnings.isEmpty {
      console.line(console.styled("What changes for the app:", as: .heading))
      for warning in plan.warnings { console.line("  \(warning)") }
    }
    let undecided = plan.undeclaredReferences
    if !undecided.isEmpty {
      console.line(console.styled("Undeclared references:", as: .heading))
      for one in undecided {
        let word = open.contains(one) ? "decide" : one.evidence == .guess ? "guess" : "left"
        console.line("  \(console.styled(word, as: .warning)): \(one.reason)")
        if word == "left" { continue }
        let name = "\(one.reference.table).\(one.reference.column)"
        if !one.canFollow {
          console.line("    \(Self.waysOfVirtualTables(name))")
          continue
        }
        let follow = one.options.map { "--follow \($0)" }.joined(separator: ", ")
        console.line(
          word == "guess"
            ? "    if it does: \(follow)"
            : "    \(follow), or --leave \(name); left, joins by it find nothing"
        )
      }
    }
  }

  /// What can be done about a virtual table that finds rows by their keys.
  static func waysOfVirtualTables(_ name: String) -> String {
    "keep the keys with --keep-integer-keys, or drop it now and create it anew afterwards;"
      + " if its rows are its own, --leave \(name)"
  }

  private func show(_ table: KeyMigrationReport.Table, console: Console) {
    let rows = Phrase.count(table.rows, "row")
    let key =
      switch table.key {
      case .uuid(let column): "\(column) becomes a UUID"
      case .added(let column): "a new key \(column) of UUIDs is added"
      case .counted(let column): "\(column) stays, and becomes AUTOINCREMENT"
      case nil: "its key stays"
      }
    console.line("  \(console.styled(table.name, as: .name)) (\(rows)): \(key)")
    for reference in table.references {
      console.line("    \(reference.column) follows \(reference.parentTable)")
    }
    if let column = table.oldKeyColumn { console.line("    \(column) keeps the old key") }
    for key in table.droppedUniqueKeys {
      let columns = key.joined(separator: ", ")
      console.line("    \(console.styled("dropped", as: .warning)): UNIQUE (\(columns))")
    }
  }

  private static func words(for violation: SchemaViolation) -> String {
    let column = violation.column ?? ""
    return violation.code == .nullablePrimaryKey
      ? "\(column) becomes NOT NULL; rows without a key get a random one"
      : "\(column) gets a default: by its type '', 0 or no bytes, also where NULL is written"
  }

  // MARK: JSON

  struct Report: Encodable {
    struct Table: Encodable {
      var table: String
      var rows: Int
      var key: String
      var column: String?
      var oldKeyColumn: String?
      var follows: [String: String]
      var droppedUniqueKeys: [[String]]
    }
    struct Reference: Encodable {
      var table: String
      var column: String
      var parent: String
      var otherParents: [String]
      var evidence: String
      var rows: Int
      var matches: Int
      /// Whether it can be named with `--follow`.
      var canFollow: Bool
      /// Whether the migration waits for a decision.
      var isOpen: Bool
    }
    struct Fix: Encodable {
      var table: String
      var column: String?
      var code: String
    }

    var database: String
    var output: String?
    var isDone: Bool
    /// With which other copies get the same keys.
    var salt: String?
    var tables: [Table]
    var undeclaredReferences: [Reference]
    var fixes: [Fix]
    /// What stands in the way of a sync afterwards, in words; nil if it is not known.
    var obstacles: [String]?
    var warnings: [String]
  }

  var report: Report {
    Report(
      database: request.path,
      output: request.output,
      isDone: !request.isDryRun,
      salt: givesKeys && !request.isDryRun ? request.migration.salt : nil,
      tables: plan.tables.map { Report.Table($0) },
      undeclaredReferences: plan.undeclaredReferences.map { one in
        Report.Reference(
          table: one.reference.table,
          column: one.reference.column,
          parent: one.reference.parentTable,
          otherParents: one.otherParents,
          evidence: one.evidence.rawValue,
          rows: one.rows,
          matches: one.matches,
          canFollow: one.canFollow,
          isOpen: open.contains(one)
        )
      },
      fixes: fixed.map { .init(table: $0.table, column: $0.column, code: $0.code.rawValue) },
      obstacles: obstacles?.map(\.reason),
      warnings: plan.warnings
    )
  }
}

extension MigrationPlanText.Report.Table {
  fileprivate init(_ table: KeyMigrationReport.Table) {
    let names: (key: String, column: String?) =
      switch table.key {
      case .uuid(let column): ("uuid", column)
      case .added(let column): ("added", column)
      case .counted(let column): ("counted", column)
      case nil: ("kept", nil)
      }
    self.init(
      table: table.name,
      rows: table.rows,
      key: names.key,
      column: names.column,
      oldKeyColumn: table.oldKeyColumn,
      follows: Dictionary(
        table.references.map { ($0.column, $0.parentTable) },
        uniquingKeysWith: { first, _ in first }
      ),
      droppedUniqueKeys: table.droppedUniqueKeys
    )
  }
}

extension UndeclaredReference {
  /// How `--follow` names it, for each table that it may refer to.
  var options: [String] {
    if !canFollow { return [] }
    return ([reference.parentTable] + otherParents)
      .map { "\(reference.table).\(reference.column)=\($0)" }
  }
}

import CloudSyncCore
import CloudSyncSQLite

/// `cloudsync check`: what in a schema stands in the way of synchronization.
enum CheckCommand {
  static var command: Command {
    Command(
      path: ["check"],
      summary: "Check whether a database's schema can be synced, and what prevents it.",
      operands: ["DATABASE"],
      options: [DatabaseArguments.tables, DatabaseArguments.all]
        + DatabaseArguments.policies
        + [
          DatabaseArguments.filter,
          .init(name: "--sql", help: "print only the SQL that fixes it, for the program sqlite3"),
          DatabaseArguments.dropUnique,
          .json,
        ],
      discussion: """
        Without --tables all tables are checked. The file stays as it is. The exit code is 1 if there
        are errors; warnings let a database be synced. What SQL cannot fix, such as keys, “cloudsync migrate”
        fixes. The SQL drops UNIQUE constraints only with --drop-unique; to keep them sync with
        --unique-newest or --unique-merge.

        Columns that look like references to an integer key and are not declared are listed too, by their names
        and values: “cloudsync migrate” changes them only if they are named with --follow. So are rows that refer
        to no row: a copy that lacks such a row keeps it waiting until its reference is fixed.
        """,
      run: run
    )
  }

  /// The result for scripts.
  private struct Report: Encodable {
    struct Entry: Encodable {
      var table: String
      var column: String?
      var code: String
      var severity: String
      var reason: String
      var sql: String?
    }

    var database: String
    var tables: [String]
    var errors: Int
    var warnings: Int
    var violations: [Entry]

    init(of path: String, tables: [String], violations: [SchemaViolation]) {
      database = path
      self.tables = tables
      warnings = violations.count { $0.isWarning }
      errors = violations.count - warnings
      self.violations = violations.map {
        Entry(
          table: $0.table,
          column: $0.column,
          code: $0.code.rawValue,
          severity: $0.isWarning ? "warning" : "error",
          reason: $0.reason,
          sql: $0.sql
        )
      }
    }
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let target = DatabaseArguments(arguments)
    let database = try target.open(access: .readOnly)
    let names = try target.naming { try SyncEngine.tableNames(in: database) }
    let tables = try target.tables(names: names, orElse: names)
    if tables.isEmpty { throw ToolError.failure("\(target.path): it has no tables") }
    let options = try target.options(
      tables: tables,
      policies: try target.policies(of: tables, in: database),
      metadata: try? SyncMetadata.read(from: database)
    )
    let violations = try target.naming {
      try SyncEngine.check(database, tables: tables, options: options)
    }
    let references = try target.naming {
      try SyncEngine.undeclaredReferences(in: database, to: tables.filter(options.changesKey(of:)))
    }
    let dangling = try target.naming {
      try SyncEngine.danglingReferences(in: database, tables: tables)
    }
    let found =
      violations + references.filter { $0.evidence != .guess }.map { SchemaViolation($0) }
      + SchemaViolation.warnings(of: dangling)
    let report = Report(of: target.path, tables: tables, violations: found)
    if arguments.has("--json") {
      console.line(try JSONText.block(for: report))
    } else if arguments.has("--sql") {
      for sql in fixingSQL(violations, dropsUnique: arguments.has("--drop-unique")) {
        console.block(sql)
      }
    } else {
      show(violations: found, report: report, console: console)
    }
    if report.errors > 0 { throw ToolError.negative }
  }

  /// The SQL of all tables, that of each once; it drops unique keys only if that is asked for.
  static func fixingSQL(_ violations: [SchemaViolation], dropsUnique: Bool) -> [String] {
    var tables: [String] = []
    let chosen = violations.filter { violation in
      let isUnique = violation.isOfUniqueKey
      let hasUnique = violations.contains {
        $0.table == violation.table && $0.isOfUniqueKey && $0.sql != nil
      }
      return isUnique ? dropsUnique : !(dropsUnique && hasUnique)
    }
    return chosen.compactMap { violation in
      guard let sql = violation.sql, !tables.contains(violation.table) else { return nil }
      tables.append(violation.table)
      return sql
    }
  }

  private static func show(
    violations: [SchemaViolation],
    report: Report,
    console: Console
  ) {
    // Virtual tables are none that can be synced, and may need the keys of others.
    let others = violations.map(\.table).filter { !report.tables.contains($0) }
    for table in report.tables + others {
      let ofTable = violations.filter { $0.table == table }
      if ofTable.isEmpty { continue }
      console.line(console.styled(table, as: .heading))
      for violation in ofTable {
        let word = console.styled(
          violation.isWarning ? "warning" : "error",
          as: violation.isWarning ? .warning : .bad
        )
        console.line("  \(word): \(violation.reason)")
      }
      console.line()
    }
    let count = Phrase.count(report.tables.count, "table")
    guard report.errors > 0 else {
      let warnings =
        report.warnings == 0 ? "" : ", with \(Phrase.count(report.warnings, "warning"))"
      return console.line(
        "\(console.styled("passed", as: .good)): \(count) can be synced\(warnings)"
      )
    }
    console.line(
      console.styled(
        "\(Phrase.count(report.errors, "error")) and \(Phrase.count(report.warnings, "warning"))"
          + " in \(count)",
        as: .bad
      )
    )
    if violations.contains(where: {
      !$0.isWarning && $0.isMigrated && !$0.isOfUniqueKey
    }) {
      console.line(
        "see what can be fixed: “cloudsync migrate \(report.database.argument) --all --fix --dry-run”"
      )
    }
    if violations.contains(where: \.isOfUniqueKey) {
      let isSettled = violations.contains { $0.code == .uniqueConstraintDisallowed }
      let keeping =
        isSettled
        ? "keep UNIQUE: sync with --unique-newest or --unique-merge; drop it" : "drop UNIQUE"
      console.line(
        "\(keeping): “cloudsync check \(report.database.argument) --sql --drop-unique”"
      )
    }
    if violations.contains(where: { $0.code == .integerPrimaryKey }) {
      console.line(
        "keep integer keys: “cloudsync migrate \(report.database.argument) --all --keep-integer-keys”"
      )
    }
  }
}

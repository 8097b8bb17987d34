import CloudSyncCore
import CloudSyncSQLite

/// `cloudsync check`: what in a schema stands in the way of synchronization.
enum CheckCommand {
  static var command: Command {
    Command(
      path: ["check"],
      summary: "Tell what in a database's schema stands in the way of synchronization.",
      operands: ["DATABASE"],
      options: [DatabaseArguments.tables, DatabaseArguments.all]
        + DatabaseArguments.policies
        + [
          .init(name: "--sql", help: "nothing but the SQL that mends it, for the program sqlite3"),
          DatabaseArguments.json,
        ],
      discussion: """
        Without --tables all tables are looked at. The file stays as it is. The exit code is 1 if there
        are errors; warnings let a database be synchronized. What SQL cannot mend, such as keys,
        “cloudsync migrate” mends.
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

    init(_ path: String, _ tables: [String], _ violations: [SchemaViolation]) {
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
    let options = try target.options(tables: tables)
    let violations = try target.naming {
      try SyncEngine.check(database, tables: tables, options: options)
    }
    let report = Report(target.path, tables, violations)
    if arguments.has("--json") {
      console.line(try JSONText.block(for: report))
    } else if arguments.has("--sql") {
      for sql in mendingSQL(violations: violations) { console.block(sql) }
    } else {
      show(violations: violations, report: report, console: console)
    }
    if report.errors > 0 { throw ToolError.negative }
  }

  /// The SQL of all tables, that of each once.
  static func mendingSQL(violations: [SchemaViolation]) -> [String] {
    var tables: [String] = []
    return violations.compactMap { violation in
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
    for table in report.tables {
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
      for sql in mendingSQL(violations: ofTable) {
        console.line(console.styled("  This mends it:", as: .faint))
        console.block(sql)
      }
      console.line()
    }
    let count = Phrase.count(report.tables.count, "table")
    guard report.errors > 0 else {
      let warnings =
        report.warnings == 0 ? "" : ", with \(Phrase.count(report.warnings, "warning"))"
      return console.line(
        "\(console.styled("well", as: .good)): \(count) can be synchronized\(warnings)"
      )
    }
    console.line(
      console.styled(
        "\(Phrase.count(report.errors, "error")) and \(Phrase.count(report.warnings, "warning"))"
          + " in \(count)",
        as: .bad
      )
    )
    if violations.contains(where: { !$0.isWarning && $0.isMigrated }) {
      console.line("mend everything with: cloudsync migrate \(report.database) --all --mend")
    }
  }
}

extension SchemaViolation {
  /// Whether `cloudsync migrate` mends it.
  var isMigrated: Bool {
    sql != nil || code == .integerPrimaryKey || code == .missingPrimaryKey
  }
}

import CloudSyncSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// `cloudsync migrate`: primary keys that can be synchronized.
enum MigrateCommand {
  static var command: Command {
    Command(
      path: ["migrate"],
      summary: "Give a database's tables primary keys that can be synchronized.",
      operands: ["DATABASE"],
      options: [
        DatabaseArguments.tables, DatabaseArguments.all,
        .init(name: "--output", value: "COPY", help: "write a copy, and leave the database alone"),
        .init(name: "--mend", help: "run the SQL of “cloudsync check” too"),
        .init(name: "--drop-unique", help: "take away unique keys beside the primary ones"),
        .init(
          name: "--salt",
          value: "TEXT",
          help: "what makes the keys differ from those of another database with the same rows"
        ),
      ],
      discussion: """
        Integer and missing keys become UUIDs, and all that refers to them follows. Copies of one
        database get the same UUIDs, so each may be migrated by itself. Rows that are inserted without
        a key get a random UUID. Nothing is changed if anything fails; keep a copy all the same, or take
        --output. With --mend columns that are NOT NULL get defaults, and unique keys go.
        """,
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let target = DatabaseArguments(arguments)
    guard let output = arguments.value(of: "--output") else {
      let lock = try DatabaseLock(target.path)
      defer { lock.release() }
      let database = try target.open(access: .readWrite)
      return try target.naming {
        try migrate(database: database, target: target, arguments: arguments, console: console)
      }
    }
    if access(output, F_OK) == 0 {
      throw ToolError.failure("\(output): it exists already; name a new file")
    }
    let source = try target.open(access: .readOnly)
    let part = output + ".part"
    unlink(part)
    do {
      try target.naming { try source.copy(toFile: part) }
      let copy = try DatabaseFile(path: part, access: .readWrite)
      try target.naming {
        try migrate(database: copy, target: target, arguments: arguments, console: console)
      }
    } catch {
      for suffix in ["", "-wal", "-shm", "-journal"] { unlink(part + suffix) }
      throw error
    }
    guard rename(part, output) == 0 else {
      let reason = String(cString: strerror(errno))
      unlink(part)
      throw ToolError.failure("\(output): it cannot be written: \(reason)")
    }
    console.line("wrote \(output)")
  }

  private static func migrate(
    database: DatabaseFile,
    target: DatabaseArguments,
    arguments: Arguments,
    console: Console
  ) throws {
    let names = try SyncEngine.tableNames(in: database)
    let tables = try target.tables(names: names, orElse: nil)
    var migration = PrimaryKeyMigration(
      tables: tables,
      salt: arguments.value(of: "--salt") ?? "",
      dropsUniqueKeys: arguments.has("--drop-unique")
    )
    migration.keyDefault = PrimaryKeyMigration.portableKeyDefault
    let changed = try migration.run(on: database)
    for table in changed { console.line("migrated \(table)") }
    var mended: [String] = []
    if arguments.has("--mend") {
      let violations = try SyncEngine.check(database, tables: tables)
      for sql in CheckCommand.mendingSQL(violations: violations) { try database.execute(sql) }
      mended = tables.filter { name in violations.contains { $0.table == name && $0.sql != nil } }
      for table in mended { console.line("mended \(table)") }
    }
    if changed.isEmpty, mended.isEmpty { console.line("no table needed it") }
    let left = try SyncEngine.check(database, tables: tables).filter { !$0.isWarning }
    if left.isEmpty {
      return console.line("\(console.styled("well", as: .good)): all of them can be synchronized")
    }
    for violation in left { console.note("still in the way: \(violation.reason)") }
  }
}

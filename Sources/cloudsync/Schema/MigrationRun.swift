import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema

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

/// One run of `cloudsync migrate`: a plan, and what it says.
struct MigrationRun {
  private let request: MigrationRequest
  private let target: DatabaseArguments

  init(_ request: MigrationRequest, in target: DatabaseArguments) {
    self.request = request
    self.target = target
  }

  func run(console: Console) throws {
    for path in [request.output, request.keyMap].compactMap({ $0 }) where access(path, F_OK) == 0 {
      throw ToolError.failure("\(path): it exists already; name a new file")
    }
    let database = try target.open(access: .readOnly)
    try checkNotSynced(database)
    var plan = try plan(of: database)
    if !request.isJSON { plan.show(console: console) }
    if request.isDryRun {
      plan.obstacles = try obstaclesAfterwards()
      if request.isJSON {
        console.line(try JSONText.block(for: plan.report))
      } else {
        tell(obstacles: plan.obstacles ?? [], word: "cannot be synced afterwards", console: console)
      }
      // As the run itself would.
      if !plan.open.isEmpty || plan.obstacles?.isEmpty == false { throw ToolError.negative }
      return
    }
    if let first = plan.open.first {
      let others = plan.open.dropFirst().count
      let name = "\(first.reference.table).\(first.reference.column)"
      let follows = first.options.map { "“--follow \($0)”" }.joined(separator: " or ")
      let ways =
        follows.isEmpty
        ? "Either \(MigrationPlanText.waysOfVirtualTables(name))."
        : "Take it along with \(follows), or keep its values with “--leave \(name)”."
      throw ToolError.failure(
        "\(request.path): nothing was changed: \(first.reason) \(ways)"
          + (others == 0 ? "" : " \(Phrase.count(others, "more column")) to decide about.")
      )
    }
    try migrate(plan, console: console)
    let left = try target.naming {
      try obstacles(in: DatabaseFile(path: request.output ?? request.path, access: .readOnly))
    }
    plan.obstacles = left
    if request.isJSON {
      console.line(try JSONText.block(for: plan.report))
      if !left.isEmpty { throw ToolError.negative }
      return
    }
    for file in [request.output, request.keyMap].compactMap({ $0 }) {
      console.line("wrote \(file)")
    }
    if plan.givesKeys, let note = request.keys.note(salt: request.migration.salt) {
      console.note(note)
    }
    if left.isEmpty {
      return console.line("\(console.styled("passed", as: .good)): all of them can be synced")
    }
    tell(obstacles: left, word: "cannot be synced yet", console: console)
    throw ToolError.negative
  }

  /// Throws if tables are synced: the cloud has their rows under the keys that they have.
  private func checkNotSynced(_ database: DatabaseFile) throws {
    guard let version = try target.naming(body: { try SyncMetadata.version(in: database) }),
      version == SyncMetadata.currentVersion,
      let metadata = try target.naming(body: { try SyncMetadata.read(from: database) }),
      let synced = request.migration.tables.first(where: { name in
        metadata.tables.contains { $0.name.isSameName(as: name) }
      })
    else { return }
    let path = request.path.argument
    throw ToolError.failure(
      "\(request.path): nothing was changed: table \"\(synced)\" is synced. Sync all copies, end that with “cloudsync detach"
        + " \(path)”, migrate then, and begin a new cloud with “cloudsync sync \(path) --cloud NEW --create --all”: from the"
        + " old one rows whose keys change would come a second time. The other copies are replaced by copies of this file"
    )
  }

  // MARK: What stands in the way afterwards

  private func obstacles(in database: DatabaseFile) throws -> [SchemaViolation] {
    try SyncEngine.check(
      database,
      tables: request.migration.tables,
      options: request.engineOptions
    )
    .filter { !$0.isWarning }
  }

  /// What will stand in the way of a sync: a database of the same tables is migrated, without rows.
  ///
  /// Nil where that cannot be told before the migration is made: such tables cannot be made anew by their SQL alone.
  private func obstaclesAfterwards() throws -> [SchemaViolation]? {
    guard let scratch = try migratedScratch(fixing: true) else { return nil }
    return try target.naming { try obstacles(in: scratch) }
  }

  /// A database of the same tables without rows, migrated; nil where such tables cannot be made anew by their SQL alone.
  private func migratedScratch(fixing: Bool) throws -> DatabaseFile? {
    let source = try target.open(access: .readOnly)
    let statements = try target.naming {
      try source.query(
        """
        SELECT s.sql FROM sqlite_schema s LEFT JOIN pragma_table_list t ON t.schema = 'main' AND t.name = s.name
        WHERE s.sql IS NOT NULL AND s.name NOT LIKE 'sqlite^_%' ESCAPE '^'
          AND (s.type = 'index' OR t.type = 'table') ORDER BY s.type = 'index', s.rowid
        """
      )
      .compactMap { $0.string("sql") }
    }
    do {
      let scratch = try DatabaseFile(path: ":memory:", enforcesForeignKeys: false)
      for sql in statements { try scratch.execute(sql) }
      if fixing { try migrate(scratch) } else { try request.migration.run(on: scratch) }
      return scratch
    } catch { return nil }
  }

  private func tell(obstacles: [SchemaViolation], word: String, console: Console) {
    for violation in obstacles { console.note("\(word): \(violation.reason)") }
    let fixable = obstacles.filter(\.isFixed).count
    if fixable > 0, !request.fixes {
      let what = fixable == obstacles.count ? "all of that" : "\(fixable) of these"
      console.note("add --fix: it fixes \(fixable == 1 && obstacles.count == 1 ? "that" : what)")
    }
    let unique = Set(obstacles.filter { $0.code == .uniqueConstraintDisallowed }.map(\.table))
    if unique.isEmpty { return }
    let tables = unique.sorted().joined(separator: ",")
    console.note("to keep UNIQUE, sync with --unique-newest \(tables) or --unique-merge \(tables)")
  }

  /// What would be done.
  private func plan(of database: DatabaseFile) throws -> MigrationPlanText {
    try target.naming {
      let report = try request.migration.report(on: database)
      return MigrationPlanText(request, report, fixed: try fixes(of: database))
    }
  }

  /// What is fixed once the keys are migrated.
  private func fixes(of database: DatabaseFile) throws -> [SchemaViolation] {
    guard request.fixes else { return [] }
    // Columns of a unique key get defaults only where the key goes.
    guard request.migration.dropsUniqueKeys, let scratch = try migratedScratch(fixing: false) else {
      return try violations(of: database)
    }
    return try violations(of: scratch)
  }

  /// What `--fix` fixes.
  private func violations(of database: DatabaseFile) throws -> [SchemaViolation] {
    try SyncEngine.check(database, tables: request.migration.tables)
      .filter(\.isFixed)
  }

  // MARK: Doing it

  /// Migrates the database, or a copy that takes its name when all is done.
  private func migrate(_ plan: MigrationPlanText, console: Console) throws {
    guard let output = request.output else {
      let lock = try DatabaseLock(request.path)
      defer { lock.release() }
      return try change(try target.open(access: .readWrite))
    }
    let part = output + ".part"
    unlink(part)
    do {
      try target.naming { try target.open(access: .readOnly).copy(toFile: part) }
      try change(try DatabaseFile(path: part, access: .readWrite))
    } catch {
      for suffix in ["", "-wal", "-shm", "-journal"] { unlink(part + suffix) }
      throw error
    }
    guard rename(part, output) == 0 else {
      let reason = String(cString: strerror(errno))
      unlink(part)
      throw ToolError.failure("\(output): it cannot be written: \(reason)")
    }
  }

  private func change(_ database: DatabaseFile) throws {
    try target.naming {
      guard let path = request.keyMap else { return try migrate(database) }
      let map = try KeyMapFile(path: path)
      do {
        try migrate(database) { try map.append($0) }
      } catch {
        map.discard()
        throw error
      }
      try map.finish()
    }
  }

  /// Migrates tables, and fixes what was asked for.
  private func migrate(
    _ database: DatabaseFile,
    onKey: (@Sendable (KeyMapping) throws -> Void)? = nil
  ) throws {
    if let onKey {
      try request.migration.run(on: database, onKey: onKey)
    } else {
      try request.migration.run(on: database)
    }
    guard request.fixes else { return }
    for sql in CheckCommand.fixingSQL(try violations(of: database), dropsUnique: false) {
      try database.execute(sql)
    }
  }
}

extension MigrationRequest {
  /// With which options the tables are synced then.
  var engineOptions: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.givesIntegerKeys = migration.keepsIntegerKeys
    return options
  }
}

extension SchemaViolation {
  /// Whether `--fix` fixes it.
  fileprivate var isFixed: Bool {
    [.nonNullColumnMustHaveDefault, .nullablePrimaryKey].contains(code) && sql != nil
  }
}

import CloudSyncCore
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
    let plan = try plan(of: try target.open(access: .readOnly))
    if !request.isJSON {
      plan.show(console: console)
    } else if request.isDryRun {
      console.line(try JSONText.block(for: plan.report))
    }
    if request.isDryRun {
      // As the run itself would.
      if !plan.open.isEmpty { throw ToolError.negative }
      return
    }
    if let first = plan.open.first {
      let others = plan.open.dropFirst().count
      let name = "\(first.reference.table).\(first.reference.column)"
      let ways =
        first.options.first.map {
          "Take it along with “--follow \($0)”, or keep its values with “--leave \(name)”."
        } ?? "Either \(MigrationPlanText.waysOfVirtualTables(name))."
      throw ToolError.failure(
        "\(request.path): nothing was changed: \(first.reason) \(ways)"
          + (others == 0 ? "" : " \(Phrase.count(others, "more column")) to decide about.")
      )
    }
    try migrate(plan, console: console)
    if request.isJSON { return console.line(try JSONText.block(for: plan.report)) }
    for file in [request.output, request.keyMap].compactMap({ $0 }) {
      console.line("wrote \(file)")
    }
    if plan.givesKeys, let note = request.keys.note(salt: request.migration.salt) {
      console.note(note)
    }
    let left = try target.naming {
      let database = try DatabaseFile(path: request.output ?? request.path, access: .readOnly)
      return
        try SyncEngine.check(
          database,
          tables: request.migration.tables,
          options: request.engineOptions
        )
        .filter { !$0.isWarning }
    }
    if left.isEmpty {
      return console.line("\(console.styled("passed", as: .good)): all of them can be synced")
    }
    for violation in left { console.note("cannot be synced yet: \(violation.reason)") }
    let unique = Set(left.filter { $0.code == .uniqueConstraintDisallowed }.map(\.table)).sorted()
    if !unique.isEmpty {
      let tables = unique.joined(separator: ",")
      console.note(
        "to keep UNIQUE, sync with --unique-newest \(tables) or --unique-merge \(tables)"
      )
    }
  }

  /// What would be done.
  private func plan(of database: DatabaseFile) throws -> MigrationPlanText {
    try target.naming {
      let report = try request.migration.report(on: database)
      let fixed = try violations(of: database)
      return MigrationPlanText(request, report, fixed: request.fixes ? fixed : [])
    }
  }

  /// What `--fix` fixes.
  private func violations(of database: DatabaseFile) throws -> [SchemaViolation] {
    try SyncEngine.check(database, tables: request.migration.tables)
      .filter {
        [.nonNullColumnMustHaveDefault, .nullablePrimaryKey].contains($0.code) && $0.sql != nil
      }
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
      if let path = request.keyMap {
        let map = try KeyMapFile(path: path)
        do {
          try request.migration.run(on: database) { try map.append($0) }
        } catch {
          map.discard()
          throw error
        }
        try map.finish()
      } else {
        try request.migration.run(on: database)
      }
      if request.fixes {
        for sql in CheckCommand.fixingSQL(try violations(of: database), dropsUnique: false) {
          try database.execute(sql)
        }
      }
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

import CloudSyncChangesets

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Changes the tables of a history by SQL.
enum HistoryMigrating {
  static var command: Command {
    HistoryCommand.command(
      name: "migrate",
      "Change the tables by SQL, and commit what becomes of their rows.",
      operands: ["[FILE]..."],
      options: [.init(name: "--sql", value: "SQL", help: "the statements, instead of a file")],
      discussion: """
        All rows have to be committed before. The statements run in one transaction in which nothing is captured, so that
        ALTER TABLE … DROP COLUMN works too, which fails otherwise as long as triggers read the column. BEGIN, COMMIT
        and END are passed over. If one fails, all is as it was.

        Other copies take the commit once the same is done on them; until then they wait, and lose nothing.
        """,
      run: migrate
    )
  }

  private static func migrate(target: HistoryTarget) throws {
    let sql = try sql(target)
    let database = try target.historyDatabase()
    try ChangesetRepository.migrate(database, sql: sql)
    try HistoryMoving.tell(target, of: try target.repository())
  }

  /// The statements of the file, or of the command line.
  private static func sql(_ target: HistoryTarget) throws -> String {
    let text = target.arguments.value(of: "--sql")
    switch (target.operand(place: 1), text) {
    case (nil, let text?): return text
    case (let path?, nil):
      do { return try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8) } catch {
        throw ToolError.failure("\(path): it cannot be read as text: \(Words.line("\(error)"))")
      }
    default: throw ToolError.usage("name a file of SQL statements, or give them with --sql")
    }
  }
}

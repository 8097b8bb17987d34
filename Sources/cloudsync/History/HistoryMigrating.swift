import CloudSyncChangesets
import CloudSyncCore

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
        All rows have to be committed before. The files run one after the other, or the statements of --sql: in one
        transaction in which nothing is captured, so that ALTER TABLE … DROP COLUMN works too, which fails otherwise as
        long as triggers read the column. BEGIN, COMMIT and END are passed over. If one fails, all is as it was.

        Other copies take the commit once the same is done on them; until then they wait, and lose nothing. What they
        commit before is migrated here by the same statements, which the database keeps.
        """,
      run: migrate
    )
  }

  private static func migrate(target: HistoryTarget) throws {
    let sql = try sql(target)
    let database = try target.historyDatabase()
    try ChangesetRepository.migrate(database, sql: sql)
    let repository = try target.repository()
    let count = try repository.changes().count
    if count > 0, !target.isJSON {
      target.console.line("\(Phrase.count(count, "row")) to be committed: no table was changed")
    }
    try HistoryMoving.tell(target, of: repository)
  }

  /// The statements of the files, or of the command line.
  private static func sql(_ target: HistoryTarget) throws -> String {
    let files = target.arguments.operands.dropFirst()
    switch (files.isEmpty, target.arguments.value(of: "--sql")) {
    case (true, let text?): return text
    case (false, nil): return try files.map { try text(ofFile: $0) }.joined(separator: "\n;\n")
    default: throw ToolError.usage("name files of SQL statements, or give them with --sql")
    }
  }

  private static func text(ofFile path: String) throws -> String {
    let bytes: [UInt8]
    do { bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path))) } catch {
      throw ToolError.failure("\(path): it cannot be read: \(Words.line("\(error)"))")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.utf8.elementsEqual(bytes) else {
      throw ToolError.failure("\(path): it is no text in UTF-8; give SQL statements")
    }
    return text
  }
}

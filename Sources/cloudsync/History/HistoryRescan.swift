import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// Takes up what was changed without a history.
enum HistoryRescan {
  static var command: Command {
    HistoryCommand.command(
      name: "rescan",
      "Find rows that were written past the triggers, and take up tables that were changed.",
      options: [DatabaseArguments.tables, DatabaseArguments.all, renamed],
      discussion: """
        Columns that were added, dropped or renamed become a migration; what else differs is to be committed. Where a
        table is new or was dropped, --tables names all that the history is about from now on, or --all takes all
        that there are. Where nobody can tell whether a column was renamed, --renamed says it.
        """,
      run: { target in
        let repository = try rescanned(target: target)
        let count = try repository.changes().count
        if target.isJSON { return try target.show(value: ["rows": count]) }
        target.console.line("\(Phrase.count(count, "row")) to be committed")
      }
    )
  }

  private static let renamed = Command.Option(
    name: "--renamed",
    value: "TABLE.OLD=NEW",
    help: "a column has another name now; or none: no other column has",
    isRepeatable: true
  )

  /// What is said of columns that have another name; nil if nothing is.
  private static func renames(target: HistoryTarget) throws -> [String: [String: String]]? {
    let texts = target.arguments.allValues(of: "--renamed")
    if texts.isEmpty { return nil }
    var renames: [String: [String: String]] = [:]
    for text in texts where text != "none" {
      let sides = text.split(separator: "=", maxSplits: 1).map(String.init)
      let former = sides[0].split(separator: ".", maxSplits: 1).map(String.init)
      guard sides.count == 2, former.count == 2 else {
        throw ToolError.usage("--renamed takes TABLE.OLD=NEW or none, not “\(text)”")
      }
      renames[former[0], default: [:]][former[1]] = sides[1]
    }
    return renames
  }

  /// The history after its tables are taken up, if they were changed, and its rows are compared.
  private static func rescanned(target: HistoryTarget) throws -> ChangesetRepository {
    let database = try target.database(access: .readWrite)
    var names: [String]?
    if target.arguments.has("--tables") || target.arguments.has("--all") {
      let all = try ChangesetRepository.tables(of: database)
      names = try DatabaseArguments(target.arguments).tables(names: all, orElse: nil)
    }
    let renamed = try renames(target: target)
    do {
      let repository = try target.repository()
      if names == nil {
        try repository.rescan()
        return repository
      }
    } catch let error as ChangesetError where error.code == .needsMigration {}
    try ChangesetRepository.rescan(database, tables: names, renamed: renamed)
    return try target.repository()
  }
}

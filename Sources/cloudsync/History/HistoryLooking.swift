import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// Looking at commits and rows.
enum HistoryLooking {
  private static let table = Command.Option(name: "--table", value: "NAME", help: "only this table")
  private static let key = Command.Option(
    name: "--key",
    value: "VALUE",
    help: "only the row of this key in the table; several values with commas between them"
  )

  static var commands: [Command] {
    [
      HistoryCommand.command(
        name: "log",
        "Show commits, the latest first, with the graph of branches and merges.",
        options: [
          table, key,
          .init(
            name: "--branch",
            value: "NAME",
            help: "the commits of a branch, not those of HEAD"
          ),
          .init(name: "--every-branch", help: "the commits of all branches"),
          .init(name: "--count", value: "NUMBER", help: "at most this many commits"),
        ],
        run: log
      ),
      HistoryCommand.command(
        name: "show",
        "Show a commit with its changes against its first parent.",
        operands: ["[REVISION]"],
        run: show
      ),
      HistoryCommand.command(
        name:
          "diff",
        "Show how rows differ between revisions; without any, what is not committed.",
        operands: ["[FROM]", "[TO]"],
        options: [table],
        discussion: """
          A revision is a commit's first digits, a branch, a tag or HEAD, with ~2 behind it for the second before
          it. With one revision the rows of HEAD are compared with it.
          """,
        run: diff
      ),
      HistoryCommand.command(
        name: "blame",
        "Show which commit wrote each column of a row.",
        operands: ["TABLE", "KEY..."],
        run: blame
      ),
    ]
  }

  private static func log(target: HistoryTarget) throws {
    let repository = try target.repository(access: .readOnly)
    let arguments = target.arguments
    var query = LogQuery(
      branch: arguments.value(of: "--branch"),
      isOfAllBranches: arguments.has("--every-branch"),
      table: arguments.value(of: "--table"),
      count: try arguments.number(of: "--count").map { Int(clamping: $0) }
    )
    if let text = arguments.value(of: "--key") {
      guard let table = query.table else {
        throw ToolError.usage("--key needs the table: --table NAME")
      }
      // A comma separates the columns of a key, and may be in the value of a single one.
      do throws(ChangesetError) { query.key = try repository.key(of: table, [text]) } catch {
        let parts = text.split(separator: ",").map { String($0) }
        guard parts.count > 1 else { throw error }
        query.key = try repository.key(of: table, parts)
      }
    }
    let commits = try repository.log(query)
    if target.isJSON { return try target.show(value: commits.map { ChangesetReport($0) }) }
    let names = try names(in: repository)
    // Commits that are left out leave gaps in the graph.
    var graph: HistoryGraphDrawing? = query.table == nil ? HistoryGraphDrawing() : nil
    for commit in commits {
      let line = line(commit: commit, names: names[commit.id] ?? [], console: target.console)
      guard let rows = graph?.rows(commit.id, parents: commit.parents) else {
        target.console.line(line)
        continue
      }
      for (place, row) in rows.enumerated() {
        target.console.line(place == 0 ? "\(row) \(line)" : row)
      }
    }
    for line in try HistoryWords.leftBehind(repository) { target.console.note(line) }
  }

  private static func line(commit: Changeset, names: [String], console: Console) -> String {
    var parts = [
      console.styled(commit.id.short, as: .name), HistoryWords.time(commit),
      commit.replica ?? commit.kind.rawValue,
    ]
    if !names.isEmpty {
      parts.append(console.styled("(\(names.joined(separator: ", ")))", as: .good))
    }
    let message = HistoryWords.message(commit)
    if !message.isEmpty { parts.append(message) }
    if !commit.originals.isEmpty { parts.append("(\(HistoryWords.rebased(commit)))") }
    return parts.joined(separator: "  ")
  }

  /// What commits are called.
  private static func names(in repository: ChangesetRepository) throws -> [ChangesetID: [String]] {
    var names: [ChangesetID: [String]] = [:]
    let head = try repository.head()
    if let id = head.id { names[id] = [head.isDetached ? "HEAD" : "HEAD → \(head.branch)"] }
    for branch in try repository.branches() {
      for id in branch.heads where !(branch.isCurrent && id == head.id && !head.isDetached) {
        names[id, default: []].append(branch.name)
      }
    }
    for tag in try repository.tags() { names[tag.id, default: []].append("tag \(tag.name)") }
    return names
  }

  private struct ShowReport: Encodable {
    var commit: ChangesetReport
    var changes: [RowChangeReport]
    /// What a merge has settled; absent for other commits.
    var conflicts: [ConflictReport]?
  }

  private static func show(target: HistoryTarget) throws {
    let repository = try target.repository(access: .readOnly)
    let (commit, changes) = try repository.show(Revision(target.operand(place: 1) ?? "HEAD"))
    let conflicts = try repository.conflictsOfAllBranches().filter { $0.merge == commit.id }
    if target.isJSON {
      return try target.show(
        value: ShowReport(
          commit: ChangesetReport(commit),
          changes: changes.map { RowChangeReport($0) },
          conflicts: conflicts.isEmpty ? nil : conflicts.map { ConflictReport($0) }
        )
      )
    }
    let console = target.console
    console.line(console.styled("commit \(commit.id)", as: .name))
    for parent in commit.parents { console.line("parent \(parent)") }
    console.line("branch \(commit.branch), \(commit.kind.rawValue) of \(HistoryWords.time(commit))")
    if let replica = commit.replica { console.line("by     \(replica)") }
    if let reverts = commit.reverts { console.line("reverts \(reverts.short)") }
    if !commit.originals.isEmpty {
      console.line("rebased from \(commit.originals.map(\.short).joined(separator: ", "))")
    }
    let message = HistoryWords.message(commit)
    if !message.isEmpty { console.line("\n    \(message)") }
    console.line()
    let view = RowChangeView(console: console)
    view.show(changes: changes)
    if conflicts.isEmpty { return }
    console.line("\n\(Phrase.count(conflicts.count, "conflict")) settled")
    for conflict in conflicts { view.show(conflict: conflict) }
  }

  private static func diff(target: HistoryTarget) throws {
    let repository = try target.repository(access: .readOnly)
    var changes: [RowChange]
    if let from = target.operand(place: 1) {
      changes = try repository.diff(Revision(from), Revision(target.operand(place: 2) ?? "HEAD"))
    } else {
      changes = try repository.changes()
    }
    if let table = target.arguments.value(of: "--table") {
      changes = changes.filter { $0.table.lowercased() == table.lowercased() }
      // A name that is mistyped is no reason for silence.
      if changes.isEmpty { _ = try repository.log(LogQuery(table: table, count: 1)) }
    }
    if target.isJSON { return try target.show(value: changes.map { RowChangeReport($0) }) }
    RowChangeView(console: target.console).show(changes: changes)
  }

  private struct OriginReport: Encodable {
    var column: String
    var value: String
    var commit: ChangesetReport
  }

  private static func blame(target: HistoryTarget) throws {
    let repository = try target.repository(access: .readOnly)
    let table = target.arguments.operands[1]
    let key = try repository.key(of: table, Array(target.arguments.operands[2...]))
    let origins = try repository.blame(table, key)
    if origins.isEmpty {
      throw ToolError.failure(
        "\(target.path): there is no such row in table “\(table)” at HEAD, or nothing but its key was ever written"
      )
    }
    if target.isJSON {
      return try target.show(
        value: origins.map {
          OriginReport(
            column: $0.column,
            value: $0.value.sqlText,
            commit: ChangesetReport($0.changeset)
          )
        }
      )
    }
    let rows = origins.map { origin in
      [
        origin.column, HistoryWords.value(origin.value), origin.changeset.id.short,
        origin.changeset.replica ?? origin.changeset.kind.rawValue,
        HistoryWords.time(origin.changeset),
      ]
    }
    for line in RowChangeView.columns(rows) { target.console.line(line) }
  }
}

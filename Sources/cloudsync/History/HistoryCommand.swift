import CloudSyncChangesets
import CloudSyncCore
import CloudSyncEventLog
import CloudSyncSQLite

/// `cloudsync history`: the history of a database, as git keeps one of files.
enum HistoryCommand {
  static var group: Command {
    Command(
      path: ["history"],
      summary: "Keep a database's history: commit, look, go back, branch, merge and sync.",
      subcommands: HistoryBasics.commands + HistoryLooking.commands + HistoryMoving.commands
        + HistoryJoining.commands + HistoryCloud.commands
        + HistorySquashing.commands + [HistoryReportCommand.command, HistoryCollecting.command]
    )
  }

  static let message = Command.Option(
    name: "--message",
    alias: "-m",
    value: "TEXT",
    help: "the commit's message"
  )

  /// A command of the group.
  static func command(
    name: String,
    _ summary: String,
    operands: [String] = [],
    options: [Command.Option] = [],
    discussion: String = "",
    run: @escaping (HistoryTarget) throws -> Void
  ) -> Command {
    Command(
      path: ["history", name],
      summary: summary,
      operands: ["DATABASE"] + operands,
      options: options + [.json],
      discussion: discussion,
      run: { arguments, console in
        let target = HistoryTarget(arguments: arguments, console: console)
        try target.naming { try run(target) }
      }
    )
  }
}

/// What a command of the group works on.
struct HistoryTarget {
  let arguments: Arguments
  let console: Console

  var path: String { arguments.operands[0] }
  var isJSON: Bool { arguments.has("--json") }

  /// An operand after the database; nil if there are not so many.
  func operand(place: Int) -> String? {
    place < arguments.operands.count ? arguments.operands[place] : nil
  }

  /// Runs a body whose errors are about the file, and names it in them.
  func naming(_ body: () throws -> Void) throws {
    do { try body() } catch let error as ChangesetError {
      // Other errors may name a branch of the user's that is called so.
      let reason =
        [.needsMigration, .diverged].contains(error.code)
        ? namingRescan(in: error.reason) : error.reason
      throw ToolError.failure("\(error.path ?? path): \(reason)\(advice(for: error))")
    } catch let error as SyncEngineError {
      throw ToolError.failure("\(error.path ?? path): \(error.reason)")
    }
  }

  /// The text with the whole command: the library knows commands, and not how a shell takes a path.
  func namingRescan(in text: String) -> String {
    text.replacing("“rescan”", with: "“cloudsync history rescan \(path.argument)”")
  }

  private func advice(for error: ChangesetError) -> String {
    switch error.code {
    case .uncommittedChanges where isOnOlderCommit:
      "; a branch takes them along: “cloudsync history branch \(path.argument) NAME”, then “switch”"
    case .uncommittedChanges: "; “cloudsync history commit \(path.argument)” records them"
    case .unmerged: "; “cloudsync history merge \(path.argument)” does it"
    case .behindHorizon:
      "; that is “cloudsync history rebase \(path.argument) --cloud …”, and loses nothing"
    case .noSuchBranch, .noSuchRevision: suggestion(for: error)
    case .historyTooShort:
      "; “cloudsync history fetch \(path.argument) --cloud … --everything” brings them back"
    default: ""
    }
  }

  /// Whether the rows are those of an older commit, on which nothing can be committed.
  private var isOnOlderCommit: Bool {
    // An error about the history is being told already.
    (try? repository(access: .readOnly).head().isDetached) == true
  }

  /// The branch or tag that may have been meant by the name in an error.
  private func suggestion(for error: ChangesetError) -> String {
    let parts = error.reason.split(separator: "“", maxSplits: 1)
    guard parts.count == 2, let name = parts[1].split(separator: "”").first,
      let repository = try? repository(access: .readOnly)
    else { return "" }
    let branches = (try? repository.branches().map(\.name)) ?? []
    let tags = error.code == .noSuchBranch ? [] : (try? repository.tags().map(\.name)) ?? []
    return Suggestion.text(for: String(name), among: branches + tags)
  }

  /// What the command line says of a commit, as its meta; nil if it says nothing.
  func messageMeta() throws -> String? {
    try arguments.value(of: HistoryCommand.message.name).map { try HistoryMessage($0).meta() }
  }

  func database(access: DatabaseFile.Access) throws -> DatabaseFile {
    try SamePath.checkPresence(of: path)
    return try DatabaseFile(path: path, access: access)
  }

  /// The history that the database has.
  func repository(
    access: DatabaseFile.Access = .readWrite,
    options: ChangesetOptions = ChangesetOptions()
  ) throws -> ChangesetRepository {
    try ChangesetRepository(historyDatabase(access: access), options: options)
  }

  /// The database, which has a history.
  func historyDatabase(access: DatabaseFile.Access = .readWrite) throws -> DatabaseFile {
    let database = try database(access: access)
    guard try ChangesetRepository.isInstalled(in: database) else {
      throw ToolError.failure(
        "\(path): it has no history; “cloudsync history init \(path.argument) --all” begins one"
      )
    }
    return database
  }

  /// Tells of the rows that the tables here do not take; there are none after it.
  ///
  /// - Throws: That there are some, for the exit code.
  func tellParked(_ repository: ChangesetRepository) throws {
    try tellParked(in: try repository.status())
  }

  /// The same of a status that is known.
  func tellParked(in status: ChangesetStatus) throws {
    let parked = status.parked
    if parked.isEmpty { return }
    if !isJSON {
      for row in parked {
        console.line(
          "table \(row.table), row \(HistoryWords.key(row.key)) is parked:"
            + " \(console.styled(Words.line(row.reason), as: .bad))"
        )
      }
      console.line(
        "\(Phrase.count(parked.count, "row")) of the history broke rules of the tables here; “cloudsync history"
          + " pull \(path)” tries again"
      )
    }
    throw ToolError.parked
  }

  /// Tells what of others' was fetched and is no use, as it never comes to these tables.
  ///
  /// What goes on from before a squash is no failure: “rebase” puts it on top, and the status says so.
  ///
  /// - Throws: That there is something, for the exit code.
  func tellRejected(in status: ChangesetStatus) throws {
    if status.refused.isEmpty || status.behindCount + status.leftBehindCount > 0 { return }
    for record in status.refused {
      console.note("\(record.name) was rejected: \(Words.line(record.reason))")
    }
    throw ToolError.parked
  }

  func show(value: some Encodable) throws { console.line(try JSONText.block(for: value)) }
}

/// Words and values of a history as people read them.
enum HistoryWords {
  /// The day and the minute.
  static func time(_ changeset: Changeset) -> String {
    let text = TimeText.date(
      Timestamp(nanoseconds: changeset.time.milliseconds * 1_000_000)
    )
    return String(text.prefix(16)).replacing("T", with: " ")
  }

  /// What was said of a commit: the message in its JSON, or all of it.
  static func message(_ changeset: Changeset) -> String {
    if let message = HistoryMessage(meta: changeset.meta)?.message { return Words.line(message) }
    if let part = ImportMark.part(of: changeset.meta) {
      return part == 1 ? "the first rows" : "the first rows, part \(part)"
    }
    if let mark = RestoreMark(meta: changeset.meta) {
      return "restores what \(mark.merge.short) dropped"
    }
    if let reverts = changeset.reverts {
      switch StepMark(meta: changeset.meta) {
      case .undo: return "undoes \(reverts.short)"
      case .redo: return "redoes what \(reverts.short) undid"
      case nil: if changeset.meta == "{}" { return "reverts \(reverts.short)" }
      }
    }
    return changeset.meta == "{}" ? "" : Words.line(changeset.meta)
  }

  /// What there is to say of the current branch if another copy has deleted it; nil otherwise.
  static func deletion(_ repository: ChangesetRepository) throws -> String? {
    guard let branch = try repository.branches().first(where: \.isCurrent), branch.isDeleted else {
      return nil
    }
    return "another copy has deleted \(branch.name): the next commit here brings it back for all"
  }

  /// What a commit stands for that was rebased; empty for others.
  static func rebased(_ changeset: Changeset) -> String {
    changeset.originals.isEmpty
      ? "" : "rebased from \(Phrase.count(changeset.originals.count, "commit"))"
  }

  /// What there is to say of commits from before a squash that others have made, and nobody has put on top of it.
  static func leftBehind(_ repository: ChangesetRepository) throws -> [String] {
    let commits = try repository.commitsLeftBehind()
    // A merge is nobody's, and goes with the edits before it.
    let makers = Set(commits.compactMap(\.replica)).sorted()
    return makers.map { maker in
      let count = commits.filter { $0.replica == maker }.count
      return "\(Phrase.count(count, "commit")) of “\(Words.line(maker))”"
        + " \(count == 1 ? "goes" : "go") on from before a squash; “cloudsync history rebase --others” puts"
        + " \(count == 1 ? "it" : "them") on top"
    }
  }

  /// A value as SQL writes it, shortened.
  static func value(_ value: FieldValue, limit: Int = 40) -> String {
    let text = Words.shown(value.sqlText)
    return text.count > limit ? String(text.prefix(limit - 1)) + "…" : text
  }

  static func key(_ key: [FieldValue]) -> String {
    key.map { value -> String in
      if case .string(let text) = value { return Words.shown(text) }
      return HistoryWords.value(value)
    }
    .joined(separator: ",")
  }
}

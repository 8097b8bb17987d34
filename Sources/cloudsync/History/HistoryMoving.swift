import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// Branches, tags, and going to commits.
enum HistoryMoving {
  static var commands: [Command] {
    [
      HistoryCommand.command(
        name: "branch",
        "List branches, create one, or hide one on every copy.",
        operands: ["[NAME]"],
        options: [
          .init(name: "--at", value: "REVISION", help: "where it begins; HEAD by default"),
          .init(name: "--delete", help: "hide it until somebody commits on it; commits stay"),
        ],
        run: branch
      ),
      HistoryCommand.command(
        name: "switch",
        "Switch the rows to a branch, and commit on it from now on.",
        operands: ["BRANCH"],
        discussion: """
          Rows that are not committed go along where both branches are at the same commit. Otherwise nothing is
          switched: commit them first, or discard them.
          """,
        run: switchBranch
      ),
      tagCommand,
      HistoryCommand.command(
        name: "checkout",
        "Go to a branch, as “switch” does, or show the rows of an older commit.",
        operands: ["BRANCH|REVISION"],
        options: [
          .init(
            name: "--to",
            value: "FILE",
            help: "write them into a new file, and change nothing in this one"
          )
        ],
        discussion: """
          At a commit that is named by its identifier, a tag, HEAD or a number of steps, as in main~2, HEAD is on no
          branch: nothing can be committed until “cloudsync history switch” goes to one.
          """,
        run: checkout
      ),
      HistoryCommand.command(
        name: "restore",
        "Commit the rows of an older commit on top of HEAD.",
        operands: ["REVISION"],
        options: [HistoryCommand.message],
        run: restore
      ),
      HistoryCommand.command(
        name: "pull",
        "Update the rows to the branch's head, after a fetch or a merge.",
        discussion: "The exit code is 3 if rows are parked because they were rejected.",
        run: { target in
          let repository = try target.repository()
          let moved = try repository.pull()
          if moved == nil, !target.isJSON {
            target.console.line("nothing to pull")
            return try target.tellParked(repository)
          }
          try tell(target, of: repository)
        }
      ),
    ]
  }

  private static var tagCommand: Command {
    HistoryCommand.command(
      name: "tag",
      "List tags, tag a commit, or delete a tag.",
      operands: ["[NAME]", "[REVISION]"],
      options: [
        .init(name: "--delete", help: "delete the tag"),
        .init(name: "--force", help: "move a tag that is at another commit"),
      ],
      run: tag
    )
  }

  private static func switchBranch(target: HistoryTarget) throws {
    try go(target, to: target.arguments.operands[1], in: try target.repository())
  }

  /// Goes to a branch, whose heads are merged first, and tells where HEAD is.
  private static func go(
    _ target: HistoryTarget,
    to name: String,
    in repository: ChangesetRepository
  ) throws {
    let merges = try HistoryJoining.joinHeads(of: name, in: repository)
    if !merges.isEmpty, !target.isJSON {
      target.console.line("\(Phrase.count(merges.count, "merge")) of heads of \(name)")
    }
    try repository.switchBranch(name)
    try tell(target, of: repository)
  }

  private struct HeadReport: Encodable {
    var branch: String
    var head: String?
    var isDetached: Bool
  }

  /// Tells where HEAD is.
  static func tell(_ target: HistoryTarget, of repository: ChangesetRepository) throws {
    let head = try repository.head()
    if target.isJSON {
      try target.show(
        value: HeadReport(branch: head.branch, head: head.uuid, isDetached: head.isDetached)
      )
      return try target.tellParked(repository)
    }
    let place = head.id.map { target.console.styled($0.short, as: .name) } ?? "the empty database"
    if head.isDetached {
      let way = "cloudsync history switch \(target.path.argument) \(head.branch.argument)"
      target.console.line(
        "the rows are those of \(place); HEAD is on no branch, so nothing can be committed: “\(way)” goes back"
      )
    } else {
      target.console.line("on \(head.branch) at \(place)")
    }
    try target.tellParked(repository)
  }

  private struct BranchReport: Encodable {
    var name: String
    var heads: [String]
    var isCurrent: Bool
    var isDeleted: Bool
  }

  private static func branch(target: HistoryTarget) throws {
    guard let name = target.operand(place: 1) else {
      let branches = try target.repository(access: .readOnly).branches()
      if target.isJSON {
        return try target.show(
          value: branches.map {
            BranchReport(
              name: $0.name,
              heads: $0.heads.map(\.description),
              isCurrent: $0.isCurrent,
              isDeleted: $0.isDeleted
            )
          }
        )
      }
      for branch in branches {
        let heads = branch.heads.map(\.short).joined(separator: " ")
        let state = branch.isDeleted ? "  deleted by another copy" : ""
        target.console.line("\(branch.isCurrent ? "*" : " ") \(branch.name)  \(heads)\(state)")
      }
      return
    }
    let repository = try target.repository()
    if target.arguments.has("--delete") {
      try repository.deleteBranch(name)
    } else {
      try repository.createBranch(name, at: Revision(target.arguments.value(of: "--at") ?? "HEAD"))
    }
    if target.isJSON { try target.show(value: ["branch": name]) }
  }

  private static func tag(target: HistoryTarget) throws {
    guard let name = target.operand(place: 1) else {
      let tags = try target.repository(access: .readOnly).tags()
      if target.isJSON {
        return try target.show(
          value: Dictionary(
            tags.map { ($0.name, $0.id.description) },
            uniquingKeysWith: { first, _ in first }
          )
        )
      }
      for tag in tags { target.console.line("\(tag.name)  \(tag.id.short)") }
      return
    }
    let repository = try target.repository()
    let revision =
      target.arguments.has("--delete") ? nil : Revision(target.operand(place: 2) ?? "HEAD")
    if let revision, !target.arguments.has("--force"),
      let other = try repository.tags().first(where: { UTF8Bytes.equal($0.name, name) })?.id,
      try repository.log(LogQuery(revision: revision, count: 1)).first?.id != other
    {
      throw ToolError.failure(
        "\(target.path): tag “\(name)” is at \(other.short), on every copy; --force moves it"
      )
    }
    try repository.tag(name, revision)
    if target.isJSON { try target.show(value: ["tag": name]) }
  }

  private static func checkout(target: HistoryTarget) throws {
    let repository = try target.repository()
    let name = target.arguments.operands[1]
    let revision = Revision(name)
    if let path = target.arguments.value(of: "--to") {
      try repository.export(revision, to: path)
      if target.isJSON { return try target.show(value: ["file": path]) }
      return target.console.line("\(path) has the rows of \(revision)")
    }
    // As everywhere, a tag goes before a branch of its name.
    let isTag = try repository.tags().contains { $0.name == name }
    if !isTag, try repository.branches().contains(where: { $0.name == name }) {
      return try go(target, to: name, in: repository)
    }
    try repository.checkout(revision)
    try tell(target, of: repository)
  }

  private static func restore(target: HistoryTarget) throws {
    let repository = try target.repository()
    let revision = Revision(target.arguments.operands[1])
    let restored = try? repository.show(revision).changeset.id.short
    let message = try restored.map { try HistoryMessage("Restore \($0)").meta() }
    let commit = try repository.restore(
      revision,
      meta: try target.messageMeta() ?? message ?? "{}"
    )
    try tell(target, of: commit, orElse: "the rows are the same already")
  }

  /// Tells what commit was made.
  static func tell(_ target: HistoryTarget, of commit: Changeset?, orElse text: String) throws {
    if target.isJSON {
      guard let commit else { return try target.show(value: [String: String]()) }
      return try target.show(value: ChangesetReport(commit))
    }
    guard let commit else { return target.console.line(text) }
    var line = "[\(commit.branch) \(target.console.styled(commit.id.short, as: .name))]"
    guard let reverted = commit.reverts else { return target.console.line(line) }
    let name = target.console.styled(reverted.short, as: .name)
    let repository = try target.repository(access: .readOnly)
    var former = try? repository.show(Revision(reverted.description)).changeset
    switch StepMark(meta: commit.meta) {
    case .undo: line += " undoes \(name)"
    case .redo:
      line += " redoes what \(name) undid"
      // The step, and not the commit that has undone it.
      if let step = former?.reverts {
        former = try? repository.show(Revision(step.description)).changeset
      }
    case nil: line += " reverts \(name)"
    }
    let message = former.map { HistoryWords.message($0) } ?? ""
    if !message.isEmpty { line += " “\(message)”" }
    target.console.line(line)
    // What it has changed was not typed by anybody.
    let changes = try repository.show(Revision(commit.id)).changes
    RowChangeView(console: target.console).show(changes: Array(changes.prefix(rowsShown)))
    if changes.count <= rowsShown { return }
    let rest = Phrase.count(changes.count - rowsShown, "more row")
    target.console.line("\(rest): “cloudsync history show \(target.path.argument)”")
  }

  /// How many rows are shown that a command has put back.
  private static let rowsShown = 20
}

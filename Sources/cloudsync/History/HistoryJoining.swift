import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite

/// Merging, and taking commits back.
enum HistoryJoining {
  static var commands: [Command] {
    [
      HistoryCommand.command(
        name: "merge",
        "Merge the current branch's heads, or another branch, and update the rows.",
        operands: ["[BRANCH]"],
        run: merge
      ),
      HistoryCommand.command(
        name:
          "resolve",
        "List values that merges have dropped, or restore one of them.",
        operands: ["[NUMBER]"],
        options: [.init(name: "--key", value: "VALUE", help: "restore the row under another key")],
        discussion: """
          The number is one of the list. A row that a merge has removed is restored under its own key or another
          one. A row that a merge has kept, though one side had deleted it, is deleted. Of other conflicts the dropped
          values are written again. Each is a new commit.
          """,
        run: resolve
      ),
      HistoryCommand.command(
        name: "revert",
        "Undo any commit by a new one; what was changed since stays.",
        operands: ["REVISION"],
        options: [
          .init(name: "--keep", value: "PARENT", help: "of a merge, the parent whose side stays"),
          HistoryCommand.message,
        ],
        discussion: """
          Of a merge the side stays that “show” names as the first parent: that of the branch that was merged into,
          if its last commit was made on it. A branch that went forward without a merge has the commits themselves:
          take back each of them, the latest first.
          """,
        run: { target in
          let repository = try target.repository()
          let meta = try target.messageMeta()
          let commit = try repository.revert(
            Revision(target.arguments.operands[1]),
            keeping: target.arguments.value(of: "--keep").map { Revision($0) },
            meta: meta ?? "{}"
          )
          try HistoryMoving.tell(target, of: commit, orElse: "nothing of it is left to revert")
          try target.tellParked(repository)
        }
      ),
      HistoryCommand.command(
        name: "undo",
        "Undo the last commit of this copy that is not undone yet, by a new one.",
        discussion: """
          What others have written stays, or comes back where a merge had let it give way to that commit. A merge is no
          such commit: those of this copy that it has joined are undone one by one. “redo” takes it back.
          """,
        run: { target in
          let repository = try target.repository()
          try HistoryMoving.tell(target, of: try repository.undo(), orElse: "nothing to undo")
          try target.tellParked(repository)
        }
      ),
      HistoryCommand.command(
        name: "redo",
        "Redo what was undone last.",
        run: { target in
          let repository = try target.repository()
          try HistoryMoving.tell(target, of: try repository.redo(), orElse: "nothing to redo")
          try target.tellParked(repository)
        }
      ),
    ]
  }

  private static func merge(target: HistoryTarget) throws {
    let repository = try target.repository()
    var merges: [Changeset] = []
    if let branch = target.operand(place: 1) {
      merges = try joinHeads(of: branch, in: repository)
      let before = try repository.branches().first(where: \.isCurrent)?.heads ?? []
      let merge = try repository.merge(branch)
      if !before.contains(merge.id) { merges.append(merge) }
    } else {
      merges = try repository.mergeAll()
    }
    if try repository.status().isClean { try repository.pull() }
    if target.isJSON { return try target.show(value: merges.map { ChangesetReport($0) }) }
    let waiting = try repository.conflicts().filter { $0.kind == .question }.count
    if merges.isEmpty, waiting == 0 {
      if let head = try repository.unreadableHead() { throw head.error }
      return target.console.line("nothing to merge")
    }
    let lost = try repository.conflicts()
      .filter { conflict in
        merges.contains { $0.id == conflict.merge }
      }
    target.console.line(
      "\(Phrase.count(merges.count, "merge")), \(Phrase.count(lost.count, "conflict")) settled"
        + (lost.isEmpty ? "" : "; “cloudsync history resolve \(target.path.argument)” lists them")
    )
    try HistoryMoving.tell(target, of: repository)
    if try repository.status().isClean == false, try repository.hasNewerHead() {
      target.console.line(
        "its rows stay where they are, since some are not committed: discard them, then “cloudsync history pull"
          + " \(target.path)”, or commit them, then “cloudsync history merge \(target.path)”"
      )
    }
  }

  /// Merges the heads of another branch, which others may have left with several.
  static func joinHeads(
    of branch: String,
    in repository: ChangesetRepository
  ) throws -> [Changeset] {
    let heads = try repository.branches().first { $0.name == branch }?.heads ?? []
    return heads.count > 1 ? try repository.mergeAll(branch) : []
  }

  private static func resolve(target: HistoryTarget) throws {
    guard let text = target.operand(place: 1) else { return try list(target: target) }
    let repository = try target.repository()
    let conflicts = try repository.conflicts()
    let number = try Arguments.number(from: text, for: "resolve")
    guard number >= 1, number <= UInt64(conflicts.count) else {
      throw ToolError.failure("\(target.path): there is no conflict number \(number)")
    }
    let conflict = conflicts[Int(number) - 1]
    if conflict.kind == .question {
      throw ToolError.failure("\(target.path): the app that asks must answer this one")
    }
    let key = try target.arguments.value(of: "--key")
      .map { text in
        try repository.key(of: conflict.table, text.split(separator: ",").map { String($0) })
      }
    if conflict.hasDroppedDeletion, key != nil {
      throw ToolError.usage("--key is for a row that a merge has removed")
    }
    let commit = try repository.restoreConflict(conflict, key: key)
    try HistoryMoving.tell(
      target,
      of: commit,
      orElse: conflict.hasDroppedDeletion
        ? "the row is deleted already" : "the row holds all of it already"
    )
  }

  private static func list(target: HistoryTarget) throws {
    let conflicts = try target.repository(access: .readOnly).conflicts()
    if target.isJSON {
      return try target.show(
        value: conflicts.enumerated().map { ConflictReport($1, number: $0 + 1) }
      )
    }
    if conflicts.isEmpty { return target.console.line("no conflicts") }
    let view = RowChangeView(console: target.console)
    for (place, conflict) in conflicts.enumerated() {
      view.show(conflict: conflict, number: place + 1)
    }
  }
}

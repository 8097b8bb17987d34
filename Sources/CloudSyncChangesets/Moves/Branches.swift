import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The branches and tags of a history.
struct Branches {
  let work: HistoryWork

  private var tags: Tags { Tags(connection: work.connection) }

  func all() throws(ChangesetError) -> [Branch] {
    let position = try work.heads.position()
    let hidden = try hidden()
    var heads: [Int64: [ChangesetID]] = [position.branch: []]
    for head in try work.branchHeads.heads() {
      if let id = try work.log.id(seq: head.seq) { heads[head.branch, default: []].append(id) }
    }
    var branches: [Branch] = []
    for (number, ids) in heads {
      let name = try work.dictionaries.name(number: number)
      let isHidden = hidden.contains(name)
      if isHidden, number != position.branch { continue }
      branches.append(
        Branch(
          name: name,
          heads: ids.sorted(),
          isCurrent: number == position.branch,
          isDeleted: isHidden
        )
      )
    }
    return branches.sorted { $0.name.precedesByBytes($1.name) }
  }

  /// The branches that were deleted, and on which nobody has committed anything that the deleter had not seen.
  ///
  /// It follows from the latest word about a branch and from its commits: where it was begun here counts for nothing,
  /// or replicas that have got the same would show unlike branches.
  func hidden() throws(ChangesetError) -> Set<String> {
    var names: Set<String> = []
    for entry in try tags.entries(ofKind: .hiddenBranch) where try isHidden(entry: entry) {
      names.insert(entry.name)
    }
    return names
  }

  private func isHidden(entry: Tags.Entry) throws(ChangesetError) -> Bool {
    guard let id = entry.id else { return false }
    guard let branch = try work.dictionaries.number(ofName: entry.name) else { return true }
    let ends = try work.heads.ends(ofBranch: branch)
    if ends.isEmpty { return true }
    // A commit that nobody has got here has nothing that is here before it.
    guard let deleted = try work.log.number(of: id) else { return false }
    for end in ends where try work.log.isAncestor(ancestor: end, of: deleted) == false {
      return false
    }
    return true
  }

  func create(name: String, at revision: Revision) throws(ChangesetError) {
    try Self.check(name: name, kind: "branch")
    let known = try all().map(\.name)
    // Names that look alike in every font are one for people.
    if let other = known.first(where: { $0 == name }) {
      throw ChangesetError(.invalidName, "there is a branch “\(other)” already; name another one")
    }
    if try tags.tag(name: name) != nil {
      throw ChangesetError(.invalidName, "there is a tag “\(name)” already; name another one")
    }
    let seq = try RevisionSearch(work: work).number(revision: revision)
    if let horizon = try Horizon(work.connection), let seq {
      let row = try work.log.row(seq)
      guard horizon.includes(row) else {
        throw ChangesetError(
          .behindHorizon,
          "commit \(row.id.short) is before commit \(horizon.row.id.short), which the history was squashed to; begin"
            + " the branch there or later"
        )
      }
    }
    guard let seq else {
      throw ChangesetError(
        .noSuchRevision,
        "a branch begins at a commit, and there is none; commit something first"
      )
    }
    let number = try work.dictionaries.number(forName: name)
    // One that was deleted goes on where it ends, or further on.
    for end in try work.heads.ends(ofBranch: number)
    where try work.log.isAncestor(ancestor: end, of: seq) == false {
      throw ChangesetError(
        .invalidName,
        "there was a branch “\(name)”, which ends at \(try work.log.row(end).id.short); create it there to get"
          + " it back, or name another one"
      )
    }
    try work.heads.begin(branch: number, at: seq)
    let isDeleted = try tags.entries(ofKind: .hiddenBranch)
      .contains { $0.name.hasSameBytes(as: name) && $0.id != nil }
    guard isDeleted else { return }
    try say(entry: Tags.Entry(name: name, kind: .hiddenBranch, id: nil, time: .zero))
  }

  func number(name: String) throws(ChangesetError) -> Int64 {
    let number = try work.dictionaries.number(ofName: name)
    if let number, try all().contains(where: { $0.name.hasSameBytes(as: name) }) { return number }
    if let number, try hidden().contains(name),
      let end = try work.branchHeads.heads(ofBranch: number).first
    {
      throw ChangesetError(
        .noSuchBranch,
        "branch “\(name)” was deleted, here or on another copy; create it at"
          + " \(try work.log.row(end.seq).id.short) to get it back"
      )
    }
    throw ChangesetError(.noSuchBranch, "there is no branch “\(name)”")
  }

  /// A branch and its only head; nil for the branch that begins with the empty database.
  func head(of name: String) throws(ChangesetError) -> (branch: Int64, seq: Int64?) {
    let position = try work.heads.position()
    let number = try number(name: name)
    var heads = try work.branchHeads.heads(ofBranch: number)
    if heads.count > 1 {
      // What does not go on from the horizon waits for a rebase, which nobody can do who cannot go to the branch.
      let joinable = try work.branchHeads.joinable(ofBranch: number)
      let known = try knownHeads(ofBranch: number)
      // What a newer app has made waits for an update, and for nothing else.
      let near = known.filter { head in joinable.contains { $0.seq == head.seq } }
      heads = [near, known, joinable].first { !$0.isEmpty } ?? heads
    }
    // A branch that rows are on already may have others' heads beside its own.
    if heads.count > 1 {
      throw ChangesetError(
        .unmerged,
        "branch “\(name)” has \(heads.count) heads; merge them first"
      )
    }
    return (number, heads.first?.seq ?? (number == position.branch ? position.seq : nil))
  }

  /// The heads of a branch that rows can be taken to with the tables here, also those that wait for a rebase.
  func knownHeads(ofBranch branch: Int64) throws(ChangesetError) -> [Heads.Head] {
    let waiting = try work.heads.beside().filter { $0.branch == branch }
    return try (work.branchHeads.joinable(ofBranch: branch) + waiting)
      .filtered { (head) throws(ChangesetError) in
        try work.knows(work.log.row(head.seq))
      }
  }

  /// The head of the present branch that descends from HEAD; nil if none does.
  func descendant() throws(ChangesetError) -> LogRow? {
    let position = try work.heads.position()
    if position.isDetached {
      throw ChangesetError(
        .detached,
        "an older commit is checked out; switch to a branch first"
      )
    }
    let found = try descendants(of: position)
    // What a newer app has made waits for an update, and for nothing else.
    let known = try found.filtered { (row) throws(ChangesetError) in
      try work.knows(row)
    }
    if known.count == 1 || known.isEmpty { return known.first ?? found.first }
    guard found.count < 2 else {
      throw ChangesetError(
        .unmerged,
        "branch “\(try work.dictionaries.name(number: position.branch))” has \(found.count) heads; merge them first"
      )
    }
    return found.first
  }

  /// The heads of the branch of a position that descend from it.
  func descendants(of position: Heads.Position) throws(ChangesetError) -> [LogRow] {
    var found: [LogRow] = []
    for head in try work.branchHeads.joinable(ofBranch: position.branch)
    where head.seq != position.seq {
      guard try work.log.isAncestor(ancestor: position.seq, of: head.seq) else { continue }
      found.append(try work.log.row(head.seq))
    }
    return found
  }

  func hide(name: String) throws(ChangesetError) {
    guard let branch = try all().first(where: { $0.name.hasSameBytes(as: name) }) else {
      throw ChangesetError(.noSuchBranch, "there is no branch “\(name)”")
    }
    if branch.isCurrent {
      throw ChangesetError(.misuse, "branch “\(name)” is the present one; switch to another first")
    }
    guard let head = branch.heads.first else { return }
    if branch.heads.count > 1 {
      throw ChangesetError(
        .unmerged,
        "branch “\(name)” has \(branch.heads.count) heads; merge them first"
      )
    }
    guard let number = try work.dictionaries.number(ofName: name) else { return }
    try work.heads.forgetBeginning(ofBranch: number)
    // Nobody else knows of a branch that has no commits.
    if try work.heads.ends(ofBranch: number).isEmpty { return }
    try say(entry: Tags.Entry(name: name, kind: .hiddenBranch, id: head, time: .zero))
  }

  func tag(name: String, _ revision: Revision?) throws(ChangesetError) {
    try Self.check(name: name, kind: "tag")
    if try all().contains(where: { $0.name == name }) {
      throw ChangesetError(.invalidName, "there is a branch “\(name)” already; name another one")
    }
    let known = try tags.entries(ofKind: .tag).first { $0.name == name && $0.id != nil }
    if let other = known, !other.name.hasSameBytes(as: name) {
      throw ChangesetError(.invalidName, "there is a tag “\(other.name)” already; name another one")
    }
    guard let revision else {
      if known == nil { throw ChangesetError(.noSuchRevision, "there is no tag “\(name)”") }
      return try say(entry: Tags.Entry(name: name, kind: .tag, id: nil, time: .zero))
    }
    let id = try RevisionSearch(work: work).row(revision).id
    try say(entry: Tags.Entry(name: name, kind: .tag, id: id, time: .zero))
  }

  /// Notes a word of this replica's, which is later than all that it knows.
  private func say(entry: Tags.Entry) throws(ChangesetError) {
    var entry = entry
    entry.time = HybridTime.next(after: try work.heads.position().clock, now: work.now)
    try work.heads.notice(time: entry.time)
    try tags.take(entry: entry, isRemote: false)
  }

  /// Throws if no branch or tag can be called so.
  static func check(name: String, kind: String) throws(ChangesetError) {
    let isReserved =
      name == "HEAD" || name.contains("~") || name.contains("..") || name.first == "-"
      || name.first == " " || name.last == " "
    guard name.isValidName(upTo: CommitReader.longestName), !isReserved else {
      throw ChangesetError(.invalidName, "a \(kind) cannot be called “\(name)”; name another one")
    }
  }
}

extension Array {
  /// The elements of which something holds.
  func filtered(
    _ isIncluded: (Element) throws(ChangesetError) -> Bool
  ) throws(ChangesetError) -> [Element] {
    var result: [Element] = []
    for element in self where try isIncluded(element) { result.append(element) }
    return result
  }
}

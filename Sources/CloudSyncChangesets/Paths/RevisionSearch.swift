import CloudSyncSQLiteSupport

/// Finds the commits that revisions name.
struct RevisionSearch {
  let work: HistoryWork

  /// The number of the commit; nil for the empty database, which HEAD is without commits.
  func number(revision: Revision) throws(ChangesetError) -> Int64? {
    let (name, steps) = try Self.parts(text: revision.description)
    var seq = try start(name: name)
    for _ in 0..<steps {
      guard let present = seq else { throw unknown(text: revision.description) }
      seq = try work.log.parentsByBranch(of: try work.log.row(present)).first
    }
    return seq
  }

  /// The commit, which must be one.
  func row(_ revision: Revision) throws(ChangesetError) -> LogRow {
    guard let seq = try number(revision: revision) else {
      throw unknown(text: revision.description)
    }
    return try work.log.row(seq)
  }

  /// A name, and how many steps before it.
  private static func parts(text: String) throws(ChangesetError) -> (name: String, steps: Int) {
    guard let place = text.lastIndex(of: "~") else { return (text, 0) }
    let digits = text[text.index(after: place)...]
    guard let steps = digits.isEmpty ? 1 : Int(digits), steps >= 0 else { return (text, 0) }
    let before = try parts(text: String(text[..<place]))
    return (before.name, before.steps + steps)
  }

  private func start(name: String) throws(ChangesetError) -> Int64? {
    if name == "HEAD" { return try work.heads.position().seq }
    // Whatever others call so: a whole identifier is the commit's own.
    if let id = ChangesetID(name), let seq = try work.log.number(of: id) { return seq }
    if let id = try Tags(connection: work.connection).tag(name: name) {
      guard let seq = try work.log.number(of: id) else { throw unknown(text: name) }
      return seq
    }
    if let seq = try headOfBranch(name: name) { return seq }
    return try commit(withPrefix: name)
  }

  private func headOfBranch(name: String) throws(ChangesetError) -> Int64? {
    guard let branch = try work.dictionaries.number(ofName: name) else { return nil }
    let heads = try work.branchHeads.heads(ofBranch: branch)
    guard heads.count < 2 else {
      throw ChangesetError(
        .unmerged,
        "branch “\(name)” has \(heads.count) heads; merge them first, or name one of them"
      )
    }
    return heads.first?.seq
  }

  private func commit(withPrefix text: String) throws(ChangesetError) -> Int64 {
    let isHexadecimal = text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
    }
    guard isHexadecimal, (4...64).contains(text.utf8.count),
      let low = Hexadecimal.bytes(of: text.padded(with: "0")),
      let high = Hexadecimal.bytes(of: text.padded(with: "f"))
    else { throw unknown(text: text) }
    let found = try work.log.numbers(withPrefix: low, upTo: high)
    guard let first = found.first else { throw unknown(text: text) }
    guard found.count == 1 else {
      throw ChangesetError(
        .ambiguousRevision,
        "several commits begin with \(text); give more digits"
      )
    }
    return first
  }

  private func unknown(text: String) -> ChangesetError {
    ChangesetError(.noSuchRevision, "there is no commit, branch or tag “\(text)”")
  }
}

extension String {
  fileprivate func padded(with digit: String) -> String {
    self + String(repeating: digit, count: 64 - utf8.count)
  }
}

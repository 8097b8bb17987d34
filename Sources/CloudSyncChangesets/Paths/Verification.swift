import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Compares a history with itself, and with the rows.
struct Verification {
  let work: HistoryWork
  private let frames: StateFrames

  init(work: HistoryWork) throws(ChangesetError) {
    self.work = work
    frames = try StateFrames(work.connection)
  }

  func report() throws(ChangesetError) -> VerifyReport {
    var problems = try ReferenceCheck(work: work).problems()
    var commits = 0
    var last: Int64 = 0
    while true {
      let rows = try work.log.rows(after: last, limit: 500)
      guard let end = rows.last else { break }
      for row in rows {
        commits += 1
        if let problem = try problem(of: row) { problems.append(problem) }
      }
      last = end.seq
    }
    let position = try work.heads.position()
    let head: LogRow? = if let seq = position.seq { try work.log.row(seq) } else { nil }
    let (count, hash) = try rowHash(at: head)
    if hash != head?.stateHash ?? .zero {
      problems.append(
        "the rows are not those of HEAD and what was changed since; “rescan” makes an uncommitted change of"
          + " the difference"
      )
    }
    return VerifyReport(rowCount: count, commitCount: commits, problems: problems)
  }

  private func problem(of row: LogRow) throws(ChangesetError) -> String? {
    guard let body = try work.log.body(seq: row.seq) else {
      return try GoneChanges(connection: work.connection).preamble(seq: row.seq) == nil
        ? GoneChanges.loss(of: row) : nil
    }
    guard try isItself(row: row, body: body) else {
      return "commit \(row.id.short) is not what its identifier says"
    }
    let parent: LogRow? = if let seq = row.parent { try work.log.row(seq) } else { nil }
    let changes = try work.log.written(row: row).changes
    let after = (parent?.stateHash ?? .zero)
      .adding(changes, from: try frames.frame(of: parent), to: try frames.frame(of: row))
    if after != row.stateHash {
      return "commit \(row.id.short) leads to another state than it says"
    }
    return nil
  }

  private func isItself(row: LogRow, body: [UInt8]) throws(ChangesetError) -> Bool {
    if let root = try SnapshotRoots(connection: work.connection).root(seq: row.seq) {
      return root.isMadeHere || ChangesetID(digestOf: root.head, root.body) == row.id
    }
    let header = try work.log.header(row: row)
    return ChangesetID(digestOf: CommitWriter.head(of: header), body) == row.id
  }

  /// Whether the rows are those of HEAD, apart from what is known to be uncommitted.
  var areRowsThoseOfHead: Bool {
    get throws(ChangesetError) {
      let seq = try work.heads.position().seq
      let head: LogRow? = if let seq { try work.log.row(seq) } else { nil }
      return try rowHash(at: head).hash == head?.stateHash ?? .zero
    }
  }

  /// The hash of the rows as they were at a commit, which HEAD is or becomes.
  func rowHash(at head: LogRow?) throws(ChangesetError) -> (count: Int, hash: StateHash) {
    let frame = try frames.frame(of: head)
    var (count, sum) = (0, StateHash.zero)
    for table in work.tables.tables {
      let hash = TableHash(table.name)
      let columns = table.columns.map { TableHash.column($0) }
      let standing = table.columns.map { frame.fills.value(of: $0, in: table.name) }
      // A column that came after the commit, or had gone before, is no part of it: it holds what it was filled with, or NULL.
      let isPart = table.columns.map { !frame.lacks(column: $0, of: table.name) }
      try TableRows(connection: work.connection, table: table)
        .forEachRow { key, values in
          count += 1
          let (state, presence) = hash.row(key)
          sum += presence
          for (place, value) in values.enumerated()
          where isPart[place] && value != standing[place] {
            sum += hash.cell(columns[place], value, row: state)
          }
        }
    }
    // Some may have been parked just now.
    let parked = try work.parked.absent(from: work.tables)
    count += parked.rowCount
    sum = sum.adding(parked, from: frame, to: frame)
    let back = try work.uncommitted.changes(at: .zero).inverted(at: .zero)
    return (count, sum.adding(back, from: frame, to: frame))
  }
}

import CloudSyncSQLite
import CloudSyncSQLiteSupport

@testable import CloudSyncChangesets

/// Commits in memory.
final class MemoryHistory: CommitGraph {
  private(set) var commits: [ChangesetID: Commit] = [:]

  /// Adds a commit under the digest of what it says.
  @discardableResult
  func add(_ commit: Commit) -> ChangesetID {
    let id = ChangesetID(
      digestOf: CommitWriter.head(of: commit.header),
      CommitWriter.body(of: commit)
    )
    commits[id] = commit
    return id
  }

  /// Adds an edit.
  func edit(
    _ parent: ChangesetID?,
    time: Int,
    replica: String = "r",
    _ tables: [TableDelta]
  ) throws(ChangesetError) -> ChangesetID {
    let delta = StateDelta(tables: tables.filter { !$0.rows.isEmpty })
    let before = if let parent { try header(of: parent) } else { nil as CommitHeader? }
    return add(
      Commit(
        header: CommitHeader(
          kind: .edit,
          schema: Self.schema,
          parents: parent.map { [$0] } ?? [],
          generation: (before?.generation ?? 0) + 1,
          time: HybridTime(rawValue: Int64(time)),
          replica: replica,
          branch: "main",
          stateHash: (before?.stateHash ?? .zero).adding(delta)
        ),
        changes: delta
      )
    )
  }

  /// Makes a merge.
  func merge(_ plan: MergePlan) throws(ChangesetError) -> ChangesetID {
    let hash = try header(of: plan.parents[0]).stateHash.adding(plan.changes)
    return add(plan.commit(branch: "main", schema: Self.schema, stateHash: hash))
  }

  static let schema = SchemaID(Digest(of: [[1]]))

  // MARK: CommitGraph

  func header(of id: ChangesetID) throws(ChangesetError) -> CommitHeader {
    guard let commit = commits[id] else {
      throw ChangesetError(.noSuchRevision, "there is no commit \(id.short)")
    }
    return commit.header
  }

  func changes(
    after former: StateDelta,
    from: ChangesetID?,
    to: ChangesetID?,
    as names: PresentNames
  ) throws(ChangesetError) -> StateDelta {
    let (start, end) = (path(from), path(to))
    var shared = 0
    while shared < min(start.count, end.count), start[shared] == end[shared] { shared += 1 }
    let time = to.flatMap { commits[$0]?.header.time } ?? .zero
    return try composing { () throws(ByteFault) in
      var fold = DeltaFold()
      try fold.add(former)
      for id in start[shared...].reversed() {
        if let commit = commits[id] { try fold.add(commit.changes.inverted(at: time)) }
      }
      for id in end[shared...] {
        if let commit = commits[id] { try fold.add(commit.changes) }
      }
      return fold.result
    }
  }

  /// The commits from the root to one, by first parents.
  private func path(_ id: ChangesetID?) -> [ChangesetID] {
    var path: [ChangesetID] = []
    var next = id
    while let one = next {
      path.append(one)
      next = commits[one]?.header.parents.first
    }
    return path.reversed()
  }

  func row(
    _ key: RowKey,
    of table: String,
    at id: ChangesetID?
  ) throws(ChangesetError) -> [CellValue]? {
    let rows = try changes(from: nil, to: id).table(table)?.rows ?? []
    return rows.first { $0.key == key }?.cells.map { CellValue($0.column, $0.new) }
  }

  /// All rows of a state, as insertions.
  func state(_ id: ChangesetID?) throws(ChangesetError) -> StateDelta {
    try changes(from: nil, to: id)
  }
}

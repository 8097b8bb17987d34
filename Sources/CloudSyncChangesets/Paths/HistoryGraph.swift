import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// The commits of a history as a merge looks at them.
final class HistoryGraph: CommitGraph {
  private let work: HistoryWork
  private var headers: [ChangesetID: CommitHeader] = [:]
  /// The changes from HEAD to states whose rows were asked for.
  private var fromHead: [ChangesetID?: StateDelta] = [:]
  private var uncommitted: StateDelta?
  /// By number; nil before anybody has asked.
  private var doubled: [Int64: RebasedCommit]?
  /// Nil before anybody has asked.
  private var mayRename: Bool?
  /// By the migrations: each names all rows of the columns that it has renamed.
  private var names: [Set<ChangesetID>: PresentNames] = [:]

  init(_ work: HistoryWork) { self.work = work }

  func number(id: ChangesetID) throws(ChangesetError) -> Int64 {
    if let number = try work.log.number(of: id) { return number }
    throw ChangesetError(.noSuchRevision, "there is no commit \(id.short)")
  }

  func header(of id: ChangesetID) throws(ChangesetError) -> CommitHeader {
    if let known = headers[id] { return known }
    let header = try work.log.header(row: try work.log.row(try number(id: id)))
    headers[id] = header
    return header
  }

  func changes(
    after former: StateDelta,
    from: ChangesetID?,
    to: ChangesetID?,
    as names: PresentNames
  ) throws(ChangesetError) -> StateDelta {
    try work.log.changes(
      after: former,
      from: try optionalNumber(id: from),
      to: try optionalNumber(id: to),
      as: names
    )
  }

  func presentNames(
    after migrations: () throws(ChangesetError) -> [ChangesetID]
  ) throws(ChangesetError) -> PresentNames {
    guard try hasFormerNames(), !HistoryMutant.unseenRename.isPresent else { return PresentNames() }
    let migrations = Set(try migrations())
    if let known = names[migrations] { return known }
    let rows = try migrations.sorted()
      .map { (id) throws(ChangesetError) in try work.log.row(try number(id: id)) }
    let found = try RenameSearch.names(
      after: rows,
      in: work.log,
      present: work.tables.description
    )
    names[migrations] = found
    return found
  }

  /// Whether there is a table or a column in the history that the present schema lacks.
  private func hasFormerNames() throws(ChangesetError) -> Bool {
    if let known = mayRename { return known }
    let present = work.tables.description
    let found = try work.dictionaries.schemas().contains { !present.hasNames(of: $0) }
    mayRename = found
    return found
  }

  func row(
    _ key: RowKey,
    of table: String,
    at id: ChangesetID?
  ) throws(ChangesetError) -> [CellValue]? {
    guard let tracked = work.tables.table(table) else { return nil }
    var present = try TableRows(connection: work.connection, table: tracked).row(key)
    if present == nil { present = try work.parked.row(key, of: tracked.name) }
    var row = present.map { Dictionary(uniqueKeysWithValues: $0.cells.map { ($0.column, $0.new) }) }
    for delta in [try takenBack(), try changes(fromHeadTo: id)] {
      guard let change = delta.table(table)?.row(key) else { continue }
      row = change.applied(to: row)
    }
    return row.map { cells in
      cells.keys.sorted { $0.precedesByBytes($1) }
        .compactMap { column in cells[column].map { CellValue(column, $0) } }
    }
  }

  func beginning(
    of key: RowKey,
    in table: String,
    at id: ChangesetID,
    beside bases: [ChangesetID],
    as names: PresentNames
  ) throws(ChangesetError) -> [CellValue]? {
    let bases = try bases.map { (id) throws(ChangesetError) in try number(id: id) }
    return try RowBeginnings(work: work, bases: bases, names: names)
      .beginning(of: key, in: table, at: number(id: id))
  }

  func doubles(before id: ChangesetID) throws(ChangesetError) -> Set<RebasedCommit> {
    let all = if let doubled { doubled } else { try readDoubled() }
    doubled = all
    if all.isEmpty { return [] }
    let seq = try number(id: id)
    let horizon = try Horizon(work.connection)?.row.generation ?? 0
    // What is before the horizon everything has that goes on from it.
    let isAfter = try work.log.row(seq).generation > horizon
    var found: Set<RebasedCommit> = []
    for (number, commit) in all {
      if isAfter, try work.log.row(number).generation <= horizon { continue }
      if try work.log.isAncestor(ancestor: number, of: seq) { found.insert(commit) }
    }
    return found
  }

  private func readDoubled() throws(ChangesetError) -> [Int64: RebasedCommit] {
    var result: [Int64: RebasedCommit] = [:]
    for (seq, originals) in try RebasedCommits(connection: work.connection).doubled() {
      result[seq] = RebasedCommit(try work.log.row(seq).id, originals: originals)
    }
    return result
  }

  private func optionalNumber(id: ChangesetID?) throws(ChangesetError) -> Int64? {
    guard let id else { return nil }
    return try number(id: id)
  }

  /// What brings the tables back to HEAD.
  private func takenBack() throws(ChangesetError) -> StateDelta {
    if let uncommitted { return uncommitted }
    let delta = try work.uncommitted.changes(at: .zero).inverted(at: .zero)
    uncommitted = delta
    return delta
  }

  private func changes(fromHeadTo id: ChangesetID?) throws(ChangesetError) -> StateDelta {
    if let known = fromHead[id] { return known }
    let seq = try work.heads.position().seq
    let delta = try work.log.changes(from: seq, to: try optionalNumber(id: id))
    fromHead[id] = delta
    return delta
  }
}

extension TableDelta {
  /// The change of a row; nil if it has none.
  func row(_ key: RowKey) -> RowDelta? {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low < rows.count && rows[low].key == key ? rows[low] : nil
  }
}

extension RowDelta {
  /// What a row is after this change: its columns that are not NULL, or nil if there is none.
  func applied(to row: [String: SQLiteValue]?) -> [String: SQLiteValue]? {
    if kind == .delete { return nil }
    var cells = row ?? [:]
    for cell in self.cells { cells[cell.column] = cell.new == .null ? nil : cell.new }
    return cells
  }
}

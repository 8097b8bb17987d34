import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Merges what two sides have made of one row.
struct RowMerge {
  /// What both together make of the row, against the base.
  struct Outcome {
    /// Nil if the row is as in the base.
    var change: RowDelta?
    /// What was lost of it; nil if nothing.
    var conflict: MergeConflict?
  }

  let table: String
  let rules: MergeRules.Table
  let ours: RowDelta
  let theirs: RowDelta
  /// What columns that are added up began with on both sides, of a row that both have inserted.
  var starts: [String: SQLiteValue] = [:]

  func outcome() throws(ChangesetError) -> Outcome {
    switch (ours.kind, theirs.kind) {
    case (.delete, .delete): Outcome(change: ours.time < theirs.time ? theirs : ours)
    case (.delete, .update): deletion(edit: theirs, deletion: ours)
    case (.update, .delete): deletion(edit: ours, deletion: theirs)
    case (.update, .update): updates()
    case (.insert, .insert): rules.sharesKeys ? newerRow() : insertions()
    case (.insert, .update), (.insert, .delete), (.update, .insert), (.delete, .insert):
      throw ChangesetError(
        .damaged,
        "two commits cannot both follow from the one before them; “verify” tells more"
      )
    }
  }

  // MARK: Rows that come and go

  private func deletion(edit: RowDelta, deletion: RowDelta) -> Outcome {
    let edit = edit.withoutNewerValues ?? edit
    let edited = edit.cells.map { MergeConflict.Cell($0.column, $0.new, time: $0.time) }
    switch rules.merging.deletes {
    case .editWins:
      let conflict = MergeConflict(.deletion, table: table, key: edit.key, kept: edited, lost: [])
      return Outcome(change: edit, conflict: conflict)
    case .deleteWins:
      let conflict = MergeConflict(.deletion, table: table, key: edit.key, kept: [], lost: edited)
      return Outcome(change: deletion, conflict: conflict)
    }
  }

  private func insertions() -> Outcome {
    var merge = CellMerge(rules: rules.merging, hasBase: false)
    merge.starts = starts
    for (mine, other) in ours.paired(with: theirs) { merge.add(mine, other) }
    let time = max(ours.time, theirs.time)
    let row = RowDelta(inserting: ours.key, cells: merge.cells, time: time)
    return Outcome(change: row, conflict: merge.conflict(.insertion, table: table, key: ours.key))
  }

  /// Two rows under one key: the newer stays whole.
  private func newerRow() -> Outcome {
    if ours.hasSameValues(as: theirs) {
      return Outcome(change: ours.time < theirs.time ? theirs : ours)
    }
    let (kept, lost) = ours.isOlder(than: theirs) ? (theirs, ours) : (ours, theirs)
    let conflict = MergeConflict(
      .insertion,
      table: table,
      key: kept.key,
      isSetAside: true,
      kept: kept.values.map { MergeConflict.Cell($0.column, $0.new, time: $0.time) },
      lost: lost.values.map { MergeConflict.Cell($0.column, $0.new, time: $0.time) }
    )
    return Outcome(change: kept, conflict: conflict)
  }

  // MARK: Cells

  private func updates() -> Outcome {
    var merge = CellMerge(rules: rules.merging, hasBase: true)
    for (mine, other) in ours.paired(with: theirs) { merge.add(mine, other) }
    // A cell that is as before after all is still as new as what made it so.
    return Outcome(
      change: RowDelta(updating: ours.key, cells: merge.cells),
      conflict: merge.conflict(.cell, table: table, key: ours.key)
    )
  }
}

extension RowDelta {
  /// The cells of both changes by column; a row that is inserted has NULL where it has no cell.
  fileprivate func paired(with other: RowDelta) -> [(CellDelta?, CellDelta?)] {
    var pairs: [(CellDelta?, CellDelta?)] = []
    var (mine, theirs) = (cells[...], other.cells[...])
    while mine.first != nil || theirs.first != nil {
      let isMine = mine.first.map { one in
        theirs.first.map { !$0.column.precedesByBytes(one.column) } ?? true
      }
      let isTheirs = theirs.first.map { one in
        mine.first.map { !$0.column.precedesByBytes(one.column) } ?? true
      }
      let one = isMine == true ? mine.popFirst() : nil
      let two = isTheirs == true ? theirs.popFirst() : nil
      guard let column = one?.column ?? two?.column else { break }
      pairs.append((one ?? missingCell(column: column), two ?? other.missingCell(column: column)))
    }
    return pairs
  }

  private func missingCell(column: String) -> CellDelta? {
    kind == .insert ? CellDelta(column, old: .null, new: .null, time: time) : nil
  }

  /// The cells that are not NULL.
  fileprivate var values: [CellDelta] { cells.filter { $0.new != .null } }

  fileprivate func hasSameValues(as other: RowDelta) -> Bool {
    values.count == other.values.count
      && zip(values, other.values)
        .allSatisfy { $0.column.hasSameBytes(as: $1.column) && $0.new == $1.new }
  }

  /// Whether a row's last edit is before another's; of two at one time the bytes decide.
  fileprivate func isOlder(than other: RowDelta) -> Bool {
    let mine = cells.map(\.time).max().map { max($0, time) } ?? time
    let theirs = other.cells.map(\.time).max().map { max($0, other.time) } ?? other.time
    if mine != theirs { return mine < theirs }
    return other.codedValues.lexicographicallyPrecedes(codedValues)
  }

  private var codedValues: [UInt8] {
    var writer = ByteWriter()
    for cell in values {
      writer.write(cell.column)
      writer.write(cell.new)
    }
    return writer.bytes
  }
}

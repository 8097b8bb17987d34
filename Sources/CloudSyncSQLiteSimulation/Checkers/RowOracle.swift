import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// What a row must be in the end: the join of all edits that users have made of it.
///
/// It is made from what the simulation has seen the users do, and from the times that the databases' clocks gave
/// these edits when they were made: an engine that joins otherwise is found out. Where what becomes of a
/// row depends on which versions have met, or nobody knows when it was edited, several outcomes are right.
struct RowOracle {
  let schema: SimulatedSchema
  let histories: RowHistories
  /// Whether counters may have been counted twice: a zone was lost while two files had the same past.
  var hasUnsureCounters = false
  /// The names of the records that were deleted without a tombstone.
  var removed: Set<String> = []

  /// Tells what is wrong with a row; nil if nothing is.
  func error(of history: RowHistory, row: EndRow?, table: SimulatedSchema.Table) -> String? {
    if history.isUnsure { return nil }
    if history.id.table == "tags", histories.hasRenamedParent(history.id, in: schema) { return nil }
    // Who had not fetched its newest edits takes the last that it knows for what has gone.
    if histories.isVanished(history) { return nil }
    // So does who has made it anew, or where edits win has edited it, before the record of a deletion went; and what was edited
    // under a former key follows nobody once the record is gone that tells of the next one.
    if isRemoved(history),
      history.insertions.count > 1 || !history.origins.isEmpty
        || schema.deletes(of: table.name) == .editWins
    {
      return nil
    }
    let isShaken = histories.isShaken(history: history, schema: schema)
    // What a row had that comes back is as young as its return.
    if history.deletions.isEmpty || !mayComeBack(table, isShaken: isShaken),
      let text = olderThanKnown(in: history, table: table)
    {
      return text
    }
    // Whose policy decides is told by the versions that have met: all devices end alike, one way or the other.
    if table.name == "items", schema.hasMixedDeletes, history.wasDeleted { return nil }
    // Two of them may have become one.
    if table.name == "items", schema.uniqueness == .merged { return nil }
    if row == nil, history.insertions.allSatisfy(\.isOfReplacedFile) { return nil }
    if history.hasUnknownLife {
      guard history.deletions.isEmpty, !mayGo(isShaken: isShaken), row == nil else { return nil }
      return "\(history.id) is gone, and nobody has deleted it"
    }
    let life = Life(
      of: history,
      deletes: schema.deletes(of: table.name),
      mayComeBack: mayComeBack(table, isShaken: isShaken),
      hasMoved: histories.renames[history.id] != nil
    )
    guard let row else {
      if !life.isAlive || mayGo(isShaken: isShaken) { return nil }
      return history.deletions.isEmpty
        ? "\(history.id) is gone, and nobody has deleted it"
        : "\(history.id) is gone, and it was inserted, or edited, after its last deletion"
    }
    guard life.isAlive else {
      if mayComeBack(table, isShaken: isShaken) || life.mayBeAlive { return nil }
      // Who has not heard of the deletion before its record and all tokens of that time were gone has the row still.
      if schema.purgeAge != nil, isRemoved(history) { return nil }
      return "\(row.line) is back, and was deleted"
    }
    // One of its lives may have gone with a parent: with which edits, only the engines know.
    if mayGo(isShaken: isShaken), history.insertions.count > 1 { return nil }
    for column in table.columns {
      if let text = error(of: column, in: history, life: life, row: row, isShaken: isShaken) {
        return text
      }
    }
    return counterError(in: history, life: life, row: row, table: table)
  }

  /// Whether a record is gone that told of a deletion of the row, under whatever key.
  private func isRemoved(_ history: RowHistory) -> Bool {
    if removed.isEmpty { return false }
    return ([history.id] + history.origins).contains { removed.contains($0.recordName) }
  }

  // MARK: Life

  /// Whether a row may go with one that it has referred to.
  private func mayGo(isShaken: Bool) -> Bool {
    isShaken && schema.deletesChildren
  }

  /// Whether a row may come back for another one's sake.
  private func mayComeBack(_ table: SimulatedSchema.Table, isShaken: Bool) -> Bool {
    let tables = schema.tables(version: SimulatedSchema.Version())
    let isParent = tables.contains { other in
      (other.key + other.columns).contains { $0.parent == table.name }
    }
    switch schema.action {
    case .none, .setNull: return false
    // An engine for fewer tables cannot have the others' rows go along.
    case .noAction:
      return isParent && (schema.orphans == .restoreParent || histories.haveBeenReadInParts)
    case .cascade: return schema.cascades == .restoreParent && (isParent || isShaken)
    }
  }

  // MARK: Time

  /// The columns whose values tell which edit has set them.
  private static let unique = ["a", "b", "c"]

  /// An edit is later than all that its user has seen of the row.
  private func olderThanKnown(
    in history: RowHistory,
    table: SimulatedSchema.Table
  ) -> String? {
    for (device, edit) in history.edits where edit.isCaptured && !edit.isInsertion {
      for column in Self.unique {
        guard let known = edit.former(of: column), known != .null,
          known.literal != table.column(column)?.initial
        else { continue }
        // Under a key that another row had before, it may have come again.
        let sources = history.edits.map(\.edit).filter { $0.value(of: column) == known }
        guard let source = sources.min(by: { $0.time < $1.time }), source.time >= edit.time
        else { continue }
        return "device \(device) has edited \(history.id) at \(edit.time), and had seen"
          + " \(column) \(known.literal) of \(source.time)"
      }
    }
    return nil
  }

  // MARK: Columns

  private func error(
    of column: SimulatedSchema.Column,
    in history: RowHistory,
    life: Life,
    row: EndRow,
    isShaken: Bool
  ) -> String? {
    if column.isCounter { return nil }
    if column.parent != nil, isShaken,
      histories.followsOnly(history, by: column, in: schema) == false
    {
      return nil
    }
    if column.name == "name", schema.uniqueness == .renamed { return nil }
    // Which of its values it has depends on who has met whom first.
    if column.name == "b", schema.textMerge != .newest { return nil }
    guard let value = row[column.name] else { return nil }
    // What follows a key is no edit: it gives way to every one.
    let edits = history.edits.map(\.edit)
      .filter { !$0.isCascade && $0.value(of: column.name) != nil }
    let sure = edits.filter { $0.isSure(of: column.name) && life.holds($0) }
    guard let newest = sure.map(\.time).max() else { return nil }
    let right = edits.filter { edit in
      if !edit.isSure(of: column.name) { return true }
      // Of two of the same moment one looks as if it was made unseen, where a table waits to be compared.
      if edits.contains(where: {
        $0.time == edit.time && $0.row == edit.row && !$0.hasSameValue(as: edit, in: column.name)
      }) {
        return true
      }
      return life.holds(edit) ? edit.time == newest : life.mayHold(edit) && edit.time > newest
    }
    let carried = history.edits.map(\.edit)
      .filter { $0.time >= newest && (life.holds($0) || life.mayHold($0)) }
      .flatMap { histories.carried(by: $0, in: column) }
    let values =
      right.compactMap { histories.present(of: $0, in: column)?.literal } + carried
    if values.contains(value.literal) { return nil }
    let wanted = values.joined(separator: " or ")
    return "\(history.id) has \(column.name) \(value.literal), its newest edit is \(wanted)"
  }

  // MARK: Counters

  /// A counter has what was added to it in the life that it has, by everybody.
  private func counterError(
    in history: RowHistory,
    life: Life,
    row: EndRow,
    table: SimulatedSchema.Table
  ) -> String? {
    guard let counter = table.counter, case .integer(let found)? = row[counter.name],
      !hasUnsureCounters,
      !history.edits.contains(where: {
        !$0.edit.isCaptured && !$0.edit.isSeed || $0.edit.isOfUnopenedCopy
      })
    else { return nil }
    if history.wasDeleted {
      guard schema.deletes(of: table.name) == .deleteWins, !history.isDoubled,
        !mayComeBack(table, isShaken: histories.isShaken(history: history, schema: schema))
      else { return nil }
    }
    var sum: Int64 = 0
    for (_, edit) in history.edits where life.holds(edit) {
      if case .added(_, let amount) = edit.change { sum += amount }
      // What was there before is counted once, whoever had it: it is nothing.
      if !edit.isSeed, case .integer(let number)? = edit.value(of: counter.name) { sum += number }
    }
    return sum == found
      ? nil : "\(history.id) has \(counter.name) \(found), and \(sum) was added to it"
  }
}

/// Which of a row's lives is the last, and which edits are of it.
private struct Life {
  let isAlive: Bool
  /// Whether it may be alive although nothing says that it must be.
  let mayBeAlive: Bool
  /// The last life that a deletion has ended at least, and at most, by when it began.
  private let ended: ClosedRange<HybridTime>
  private let births: [Int64: [HybridTime]]
  private let isDoubled: Bool
  private let deletes: DeletePolicy
  private let mayComeBack: Bool

  init(of history: RowHistory, deletes: DeletePolicy, mayComeBack: Bool, hasMoved: Bool) {
    self.deletes = deletes
    self.mayComeBack = mayComeBack
    isDoubled = history.isDoubled
    let created = history.insertions.map(\.time).max() ?? .zero
    var births: [Int64: [HybridTime]] = [:]
    for edit in history.insertions {
      if let number = edit.born { births[number, default: []].append(edit.time) }
    }
    self.births = births
    ended = Self.ended(in: history, births, hasMoved: hasMoved)
    let isEdited = deletes == .editWins && Self.hasUnseen(history)
    isAlive = created > ended.upperBound || isEdited
    // What a deleter has seen of a counter does not tell which additions.
    mayBeAlive =
      created > ended.lowerBound
      || deletes == .editWins
        && (history.isDoubled
          || history.edits.contains { _, edit in
            if case .added = edit.change { return true }
            // What is dropped before it is read is lost, and was an edit if it was read before.
            if let column = edit.unsureColumn, !edit.isInsertion, edit.value(of: column) != nil {
              return true
            }
            // What the table of whoever has deleted it lacks, only that engine knows to be seen.
            return !edit.isCaptured
              || edit.isDeletion
                && (edit.former(of: "b") == nil || edit.former(of: "c") == nil
                  || Self.isAmbiguous(edit, in: history))
          })
  }

  /// The last life that has ended: at most what had begun when the row was deleted last.
  ///
  /// Where rows were given the key, or other ones, a deletion may have ended only the life that was seen.
  private static func ended(
    in history: RowHistory,
    _ births: [Int64: [HybridTime]],
    hasMoved: Bool
  ) -> ClosedRange<HybridTime> {
    let most = history.deletions.map(\.time).max() ?? .zero
    guard hasMoved || history.insertions.contains(where: { $0.origin != nil }) else {
      return most...most
    }
    let seen = history.deletions.compactMap { $0.life.flatMap { births[$0]?.min() } }
    return min(seen.max() ?? .zero, most)...most
  }

  /// Whether a column has a version that nobody has seen who has deleted the row.
  private static func hasUnseen(_ history: RowHistory) -> Bool {
    var newest: [String: HybridTime] = [:]
    let seen = seen(in: history)
    for (_, edit) in history.edits where !edit.isDeletion {
      for column in columns where edit.isSure(of: column) && edit.value(of: column) != nil {
        newest[column] = max(newest[column] ?? .zero, edit.time)
      }
    }
    for deletion in history.deletions {
      for column in columns {
        // What an older version of the app does not show it may know all the same.
        guard let value = deletion.former(of: column) else {
          newest[column] = nil
          continue
        }
        // What nobody has set is of an engine's making, as a name that is taken: it is later than what it was made of.
        if value != .null, !history.edits.contains(where: { $0.edit.value(of: column) == value }) {
          newest[column] = nil
        }
        // When it was set that nobody has captured, only the engine knows.
        if history.edits.contains(where: {
          !$0.edit.isCaptured && !$0.edit.isSeed && $0.edit.value(of: column) == value
        }) {
          newest[column] = nil
        }
      }
    }
    return newest.contains { column, time in time > seen[column] ?? .zero }
  }

  /// The newest version of each column that was seen by somebody who has deleted the row.
  private static func seen(in history: RowHistory) -> [String: HybridTime] {
    var seen: [String: HybridTime] = [:]
    for deletion in history.deletions {
      for column in columns {
        guard let value = deletion.former(of: column) else { continue }
        // Of several that have set it the newest, so that nothing is asked for in vain.
        let versions = history.edits.filter {
          $0.edit.value(of: column) == value && $0.edit.time < deletion.time
        }
        let time = versions.map(\.edit.time).max() ?? .zero
        seen[column] = max(seen[column] ?? .zero, time)
      }
    }
    return seen
  }

  /// Whether a column had the value more than once that a deleter has seen: which of them it was only the engine knows.
  private static func isAmbiguous(_ deletion: RowEdit, in history: RowHistory) -> Bool {
    columns.contains { column in
      guard let value = deletion.former(of: column) else { return false }
      return history.edits.count { $0.edit.value(of: column) == value } > 1
    }
  }

  /// The columns that tell whether a deleter has seen all.
  private static let columns = ["a", "b", "c", "name", "id"]

  /// Whether an edit is of a life that no deletion has ended.
  func holds(_ edit: RowEdit) -> Bool {
    if deletes == .editWins { return true }
    return begins(edit).map { $0 > ended.upperBound } ?? (ended.upperBound == .zero)
  }

  /// When the life began that an edit is of; nil if nobody knows.
  private func begins(_ edit: RowEdit) -> HybridTime? {
    if edit.isInsertion { return edit.time }
    guard let life = edit.life, let times = births[life], times.count == 1 else { return nil }
    return times[0]
  }

  /// Whether an edit may have outlived its life, since its row was inserted twice, or has come back for another one's
  /// sake: who edits it then has it under the number of the life that was ended.
  func mayHold(_ edit: RowEdit) -> Bool {
    isDoubled || mayComeBack || begins(edit).map { $0 > ended.lowerBound } ?? true
  }
}

extension RowEdit {
  /// Whether another edit gives a column the same value.
  fileprivate func hasSameValue(as other: RowEdit, in column: String) -> Bool {
    value(of: column) == other.value(of: column)
  }

  /// Whether the engine has seen when a column was edited, and what it got.
  fileprivate func isSure(of column: String) -> Bool { isCaptured && unsureColumn != column }
}

import CloudSyncSQLiteSupport

/// References to rows that get other keys.
extension RowHistories {
  /// Whether nothing but edits of users, and new keys of the rows that a row refers to, says what it refers to.
  func followsOnly(
    _ history: RowHistory,
    by column: SimulatedSchema.Column,
    in schema: SimulatedSchema
  ) -> Bool {
    guard schema.followsKeys, column.parentColumn == "id", !haveBeenReadInParts else {
      return false
    }
    let edits = history.edits.map(\.edit)
    let isPlain = edits.allSatisfy { edit in
      edit.isCaptured && !edit.isOfReplacedFile && !edit.isOfUnopenedCopy && edit.origin == nil
    }
    guard isPlain, history.origins.isEmpty, history.deletions.isEmpty,
      history.insertions.count == 1
    else { return false }
    return history.parents(schema: schema).allSatisfy { stays($0, in: schema) }
      || edits.allSatisfy { isOfLastingRow($0, by: column) }
  }

  /// Whether an edit has a row refer to one that is there for good, whoever has its keys before and after it; or to nobody,
  /// or to nobody else.
  private func isOfLastingRow(_ edit: RowEdit, by column: SimulatedSchema.Column) -> Bool {
    guard !edit.isCascade, let value = edit.value(of: column.name), value != .null else {
      return true
    }
    // What refers to others itself may go with them.
    guard column.parent == "lists", edit.referred?.column == column.name,
      let way = way(of: edit, in: column)
    else { return false }
    return way.enumerated()
      .allSatisfy { place, one in
        // Of two lives that have met under one key whoever ends one ends both.
        guard let history = self[one.row], !history.isUnsure, !isVanished(history),
          !history.hasUnknownLife, !history.isDoubled
        else { return false }
        let births = history.insertions.filter { $0.born == one.life }
        // Whoever deletes the life before it, and has not heard of it, ends it too if it has begun by then.
        let ends = history.deletions.filter { end in
          end.life == nil || end.life == one.life || births.contains { $0.time < end.time }
        }
        return births.count == 1 && ends.count == (place + 1 < way.count ? 1 : 0)
          && !history.edits.contains { $0.edit.isOfReplacedFile || $0.edit.isOfUnopenedCopy }
      }
  }

  private func way(
    of edit: RowEdit,
    in column: SimulatedSchema.Column
  ) -> [(row: RowID, life: Int64)]? {
    guard let parent = column.parent, let life = edit.referred?.life,
      let value = edit.value(of: column.name)
    else { return nil }
    return lives.end(of: RowID(table: parent, key: [value]), life: life)
  }

  /// What a reference comes to that an edit has made.
  func present(of edit: RowEdit, in column: SimulatedSchema.Column) -> SQLiteValue? {
    guard let value = edit.value(of: column.name) else { return nil }
    if column.parent == "lists", edit.referred?.column == column.name,
      let end = way(of: edit, in: column)?.last
    {
      return end.row.key[0]
    }
    return present(value, in: column)
  }

  /// What a reference comes to that was made under the key which a row had then.
  func present(_ value: SQLiteValue, in column: SimulatedSchema.Column) -> SQLiteValue {
    guard let parent = column.parent, value != .null else { return value }
    var id = RowID(table: parent, key: [value])
    var known: Set<RowID> = []
    while known.insert(id).inserted, let next = renames[id]?.first { id = next }
    return id.key[0]
  }

  /// Whether a row is there for good, under one key after the other.
  private func stays(_ id: RowID, in schema: SimulatedSchema) -> Bool {
    guard let history = self[id], !history.isUnsure, !isVanished(history),
      history.insertions.count == 1, !history.hasUnknownLife
    else { return false }
    let next = renames[id] ?? []
    guard history.deletions.count == next.count, next.count <= 1 else { return false }
    let parents = history.parents(schema: schema)
    // Of keys that go round none tells which row is meant.
    return (parents + next).allSatisfy { $0 != id && stays($0, in: schema) }
  }
}

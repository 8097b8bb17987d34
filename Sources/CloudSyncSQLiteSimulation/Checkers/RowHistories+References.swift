import CloudSyncSQLiteSupport

/// References to rows that get other keys.
extension RowHistories {
  /// Whether nothing but edits of users, and new keys of the rows that a row refers to, says what it refers to.
  func followsOnly(
    _ history: RowHistory,
    by column: SimulatedSchema.Column,
    _ schema: SimulatedSchema
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
    return history.parents(schema: schema).allSatisfy { stays($0, schema) }
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
  private func stays(_ id: RowID, _ schema: SimulatedSchema) -> Bool {
    guard let history = self[id], !history.isUnsure, !isVanished(history),
      history.insertions.count == 1, !history.hasUnknownLife
    else { return false }
    let next = renames[id] ?? []
    guard history.deletions.count == next.count, next.count <= 1 else { return false }
    let parents = history.parents(schema: schema)
    // Of keys that go round none tells which row is meant.
    return (parents + next).allSatisfy { $0 != id && stays($0, schema) }
  }
}

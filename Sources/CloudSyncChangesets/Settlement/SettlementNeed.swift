import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension MergePlan {
  /// Whether a constraint ties what one side has changed to what the other has, so that the merge may break it
  /// though neither side does.
  func needsSettlement(in tables: TrackedTables) -> Bool {
    if computed.contains(where: { !$0.fits(tables: tables) }) { return true }
    // Rows that one side has no more, or both have, and the merge has otherwise.
    if conflicts.contains(where: { $0.kind == .deletion || $0.kept.isEmpty }) { return true }
    for table in tables.tables {
      let schema = table.schema
      let isShared = sharedRows[table.name]?.isEmpty == false
      if isShared, schema.hasRowRules || isSetAside(in: table.name) { return true }
      guard let mine = firstNet.table(table.name), let other = secondNet.table(table.name) else {
        continue
      }
      let searches = schema.uniqueKeySearches.dropFirst(
        table.hasBinaryKey && table.hasExactKey ? 1 : 0
      )
      if searches.contains(where: { mine.mayHold(search: $0) && other.mayHold(search: $0) }) {
        return true
      }
    }
    return tables.schema.references.contains { link in
      guard let child = tables.table(link.child.name)?.name,
        let parent = tables.table(link.parent.name)?.name
      else { return false }
      // Each side may have set a part of one reference.
      if link.key.columns.count > 1,
        [firstNet, secondNet]
          .allSatisfy({
            $0.table(child)?.sets(columns: link.key.columns) == true
          })
      {
        return true
      }
      return [(firstNet, secondNet), (secondNet, firstNet)]
        .contains { one, other in
          one.table(child)?.sets(columns: link.key.columns) == true
            && other.table(parent)?.removes(columns: link.key.referencedColumns) == true
        }
    }
  }

  private func isSetAside(in table: String) -> Bool {
    conflicts.contains { $0.isSetAside && $0.table == table }
  }
}

extension TableSchema {
  /// Whether a row can break a rule of the table by itself.
  fileprivate var hasRowRules: Bool {
    isStrict || sql.uppercased().contains("CHECK")
      || columns.contains { $0.isNotNull && !primaryKey.contains($0.name) }
  }
}

extension TableDelta {
  /// Whether rows may have come to hold what a unique key looks at.
  fileprivate func mayHold(search: UniqueKeySearch) -> Bool {
    rows.contains { row in
      row.kind == .insert
        || row.kind == .update
          && row.cells.contains { $0.isChange && search.columns.contains($0.column) }
        || row.isChange && row.kind == .update && search.columns.isEmpty
    }
  }

  fileprivate func sets(columns: [String]) -> Bool {
    rows.contains { row in
      row.kind == .insert || row.kind == .update && row.changes(columns: columns)
    }
  }

  fileprivate func removes(columns: [String]) -> Bool {
    rows.contains { row in
      row.kind == .delete || row.kind == .update && row.changes(columns: columns)
    }
  }
}

extension RowDelta {
  fileprivate func changes(columns: [String]) -> Bool {
    cells.contains { cell in
      cell.isChange && columns.contains { $0.isSameName(as: cell.column) }
    }
  }
}

extension MergePlan.ComputedValue {
  /// Whether the column stores the value as it is.
  fileprivate func fits(tables: TrackedTables) -> Bool {
    guard let column = tables.table(table)?.schema.column(named: column) else { return false }
    return switch (value, column.affinity) {
    case (.null, _), (.blob, _), (_, .blob): true
    case (.integer, .integer), (.integer, .numeric), (.real, .real): true
    case (.text, .text), (.malformedText, .text): true
    default: false
    }
  }
}

package import CloudSyncSQLite
package import CloudSyncSQLiteSupport

/// What became of one column of a row.
///
/// Columns of the primary key are none of the cells.
package struct CellDelta: Sendable, Hashable {
  /// The column's name as the table declares it.
  package var column: String
  /// NULL in a row that is inserted.
  package var old: SQLiteValue
  /// NULL in a row that is deleted.
  package var new: SQLiteValue
  /// When the new value was written: a merge keeps the times of both sides.
  package var time: HybridTime

  package init(_ column: String, old: SQLiteValue, new: SQLiteValue, time: HybridTime) {
    self.column = column
    self.old = old
    self.new = new
    self.time = time
  }
}

/// What became of one row between two states.
package struct RowDelta: Sendable, Hashable {
  package enum Kind: UInt8, Sendable, Hashable {
    case insert = 1
    case update = 2
    case delete = 3
  }

  package var key: RowKey
  package var kind: Kind
  /// By the bytes of the column's name; of an insertion and a deletion all values but NULLs, of an update
  /// the columns whose values differ, at least one.
  ///
  /// An update that a merge makes also has the values that stay and are newer than the first parent has them: both
  /// sides had written the same, and the later time counts in merges to come.
  ///
  /// An insertion also has the NULLs that were written at another time than the row: an edit to NULL counts like
  /// every other edit. No other NULL of it has a cell.
  ///
  /// What a merge brings back with a deleted row, because somebody has edited or needs it, is of time zero: nobody has
  /// written it, and every edit counts for more. When a row was deleted decides nothing.
  package var cells: [CellDelta]
  /// When the row was inserted or deleted; for an update the latest time of its changes.
  package var time: HybridTime

  package init(_ kind: Kind, _ key: RowKey, cells: [CellDelta], time: HybridTime) {
    self.key = key
    self.kind = kind
    self.cells = cells
    self.time = time
  }

  /// An update; nil if there are no cells.
  package init?(updating key: RowKey, cells: [CellDelta]) {
    guard let latest = cells.filter(\.isChange).map(\.time).max() ?? cells.map(\.time).max() else {
      return nil
    }
    self.init(.update, key, cells: cells, time: latest)
  }

  /// An insertion; of its NULLs those are kept that are not as old as the row.
  package init(inserting key: RowKey, cells: [CellDelta], time: HybridTime) {
    let cells = cells.filter { $0.new != .null || $0.time != time }
    self.init(.insert, key, cells: cells, time: time)
  }

  package func cell(_ column: String) -> CellDelta? {
    cells.first { $0.column.hasSameBytes(as: column) }
  }

  /// Whether the row differs after it: not if values have become newer alone.
  package var isChange: Bool { kind != .update || cells.contains(where: \.isChange) }

  /// The same without values that have become newer alone; nil if nothing differs.
  package var withoutNewerValues: RowDelta? {
    kind == .update ? RowDelta(updating: key, cells: cells.filter(\.isChange)) : self
  }

  /// What takes it back, as if done at a time; values that have become newer stay.
  package func inverted(at time: HybridTime) -> RowDelta {
    let kind: Kind =
      switch self.kind {
      case .insert: .delete
      case .update: .update
      case .delete: .insert
      }
    let cells = cells.filter(\.isChange)
      .map { CellDelta($0.column, old: $0.new, new: $0.old, time: time) }
    return RowDelta(kind, key, cells: cells, time: time)
  }
}

extension String {
  /// Whether two names are one: by bytes, not by Unicode's equivalence.
  package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

  /// Whether its bytes come before another's.
  package func precedesByBytes(_ other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }
}

package import CloudSyncSQLite
package import CloudSyncSQLiteSupport

/// What a merge decided about a row, with the values that lost.
package struct MergeConflict: Sendable, Hashable, Comparable {
  package enum Kind: UInt8, Sendable, Hashable {
    /// Both sides changed a cell.
    case cell = 1
    /// One side deleted the row, the other changed it.
    case deletion = 2
    /// Both sides inserted a row under one key.
    case insertion = 3
    /// Two rows held the same values of a unique key.
    case unique = 4
    /// A row referred to one that is gone.
    case foreignKey = 5
    /// The merged row broke a CHECK, NOT NULL or type of its table.
    case check = 6
  }

  /// A value that was kept or lost, with the time at which it was written.
  package struct Cell: Sendable, Hashable {
    package var column: String
    package var value: SQLiteValue
    package var time: HybridTime

    package init(_ column: String, _ value: SQLiteValue, time: HybridTime) {
      self.column = column
      self.value = value
      self.time = time
    }
  }

  package var table: String
  package var key: RowKey
  package var kind: Kind
  /// Whether the row is out of the table because of it, its values all in ``lost``.
  package var isSetAside: Bool
  /// What the row holds now in the columns in question, by column.
  package var kept: [Cell]
  /// What it would have held else, by column.
  package var lost: [Cell]

  package init(
    _ kind: Kind,
    table: String,
    key: RowKey,
    isSetAside: Bool = false,
    kept: [Cell],
    lost: [Cell]
  ) {
    self.kind = kind
    self.table = table
    self.key = key
    self.isSetAside = isSetAside
    self.kept = kept
    self.lost = lost
  }

  /// By table, key, kind, then whether set aside, then the coded values.
  package static func < (lhs: Self, rhs: Self) -> Bool {
    if !lhs.table.hasSameBytes(as: rhs.table) { return lhs.table.precedesByBytes(rhs.table) }
    if lhs.key != rhs.key { return lhs.key < rhs.key }
    return lhs.codedBytes.lexicographicallyPrecedes(rhs.codedBytes)
  }

  /// What stands in a commit behind the table and the key.
  package var codedBytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(byte: kind.rawValue)
    writer.write(byte: isSetAside ? 1 : 0)
    for cells in [kept, lost] {
      writer.write(count: cells.count)
      for cell in cells {
        writer.write(cell.column)
        writer.write(cell.value)
        writer.write(signed: cell.time.rawValue)
      }
    }
    return writer.bytes
  }
}

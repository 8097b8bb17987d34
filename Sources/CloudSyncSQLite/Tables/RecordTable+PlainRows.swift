import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension RecordTable {
  /// Whether the table stores the values of a row as they are, if each is of its column's own kind.
  func keepsValues(_ values: [SQLiteValue]) -> Bool {
    keepsOwnKinds && !values.contains(.real(-0.0))
  }
}

extension TableSchema.Column {
  /// The kind that its type says.
  var kind: ColumnKind { ColumnKind(declaredType: type) }

  /// Whether it stores values of its own kind as they are, but for a negative zero.
  var keepsOwnKind: Bool {
    if replacesNull { return false }
    return switch (kind, affinity) {
    case (.integer, .integer), (.integer, .numeric), (.integer, .blob): true
    case (.real, .real), (.text, .text), (.blob, _): true
    default: false
    }
  }
}

import CloudSyncSQLiteSupport

/// An edit of a row, as a trigger has captured it.
struct CapturedEdit: Sendable, Hashable {
  enum Change: Sendable, Hashable {
    case inserted
    case deleted
    /// Deleted if it is not there any more: another row may have been written over it.
    case replaced
    case updated(ColumnBits)

    /// What the outbox says; nil if it is no change.
    init?(_ value: SQLiteValue) {
      switch value {
      case .integer(-1): self = .inserted
      case .integer(-2): self = .deleted
      case .integer(-3): self = .replaced
      default:
        guard let bits = ColumnBits(value) else { return nil }
        self = .updated(bits)
      }
    }
  }

  /// Its place in the outbox.
  var id: Int64
  var table: Int64
  var time: HybridTime
  var change: Change
  /// The row's key, as it was spelled then.
  var key: [SQLiteValue]
  /// What kept columns held before and after, by their places.
  var former: [SQLiteValue] = []
  var values: [SQLiteValue] = []
}

import CloudSyncSQLiteSupport

/// An edit of a row, as a trigger has captured it.
struct CapturedEdit: Sendable, Hashable {
  enum Change: Sendable, Hashable {
    case inserted
    case deleted
    /// Deleted if it is not there any more: another row may have been written over it.
    case replaced
    case updated(ColumnBits)

    /// A deletion after which the row goes on under the key of the next edit.
    static let renaming: Int64 = -4

    /// What the outbox says; nil if it is no change.
    init?(_ value: SQLiteValue) {
      switch value {
      case .integer(-1): self = .inserted
      case .integer(-2), .integer(Self.renaming): self = .deleted
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
  /// Whether a deleted row goes on under the key of the next edit.
  var isRenaming = false
  /// What kept columns held before and after, by their places.
  var former: [SQLiteValue] = []
  var values: [SQLiteValue] = []
}

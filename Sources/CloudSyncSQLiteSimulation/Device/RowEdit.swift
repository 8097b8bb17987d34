import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Something that a user has done with a row, as the database took it.
struct RowEdit: Sendable {
  /// A column with a value.
  typealias Value = (column: String, value: SQLiteValue)

  /// What was done.
  enum Change: Sendable {
    /// The row was inserted, with these values.
    case inserted([Value])
    /// A column was given another value.
    case set(column: String, value: SQLiteValue)
    /// So much was added to a counter.
    case added(column: String, amount: Int64)
    /// The row was deleted.
    case deleted
    /// The row was deleted with its parent.
    case deletedWithParent
  }

  var row: RowID
  /// When it was done, as the database's clock has it; just after zero if nobody has captured it.
  var time: HybridTime
  var change: Change
  /// What the row was born with that was edited; nil for what is inserted, or was not there.
  var life: Int64?
  /// What the row had before.
  var former: [Value] = []
  /// Whether the engine's triggers have seen it: else its time is not known.
  var isCaptured = true
  /// A column whose value the engine may never have seen.
  var unsureColumn: String?
  /// The row that goes on as this one, which was inserted by giving it another key; nil for others.
  var origin: RowID?
  /// Whether it was made in a copied file that no engine had opened: nobody can tell it from what the original had not
  /// read yet, so it counts as the original's.
  var isOfUnopenedCopy = false
  /// Whether nobody has made it but SQLite, because the key that the row refers to was changed.
  var isCascade = false
  /// The number of the row that a column was given a reference to, which had its key then.
  var referred: (column: String, life: Int64)?
  /// Whether the row was there before any engine.
  var isSeed = false
  /// Whether it was in a file that was replaced since by a copy of another one: it is gone, unless it had been sent.
  var isOfReplacedFile = false
  /// Whether it is a deletion that need not reach anybody: of a row that the engine may not have sent, by its filter.
  var mayStay = false

  var isDeletion: Bool {
    switch change {
    case .deleted, .deletedWithParent: true
    case .inserted, .set, .added: false
    }
  }

  /// Whether the row was deleted with another one.
  var isOfCascade: Bool { if case .deletedWithParent = change { true } else { false } }

  var isInsertion: Bool { if case .inserted = change { true } else { false } }

  /// The number of a row that was inserted.
  var born: Int64? {
    guard case .inserted(let values) = change,
      case .integer(let number)? = values.first(where: { $0.column == "born" })?.value
    else { return nil }
    return number
  }

  /// The value that the edit gives a column; nil if it leaves it as it is.
  func value(of column: String) -> SQLiteValue? {
    switch change {
    case .inserted(let values): values.first { $0.column == column }?.value
    case .set(let name, let value): name == column ? value : nil
    case .added, .deleted, .deletedWithParent: nil
    }
  }

  /// What the edit has replaced in a column; nil if that is not known.
  func former(of column: String) -> SQLiteValue? { former.first { $0.column == column }?.value }
}

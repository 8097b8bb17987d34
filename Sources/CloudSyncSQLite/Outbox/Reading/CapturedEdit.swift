import CloudSyncSQLiteSupport

/// An edit of a row, as a trigger has captured it.
struct CapturedEdit: Sendable, Hashable {
  enum Change: Sendable, Hashable {
    case inserted
    case deleted
    /// Deleted if it is not there any more: another row may have been written over it.
    case replaced
    case updated(ColumnBits)
    /// The row that the next edit deletes is not one of those that are sent.
    case mismatched
    /// What follows until the row's key is changed, or the row deleted, may be what SQLite does to those that refer to it.
    case impending

    /// A deletion after which the row goes on under the key of the next edit.
    static let renaming: Int64 = -4
    /// What says before a deletion that the row does not match, and the same of one that may be replaced.
    static let mismatching: Int64 = -5
    static let mismatchingReplaced: Int64 = -6
    /// What says before a change of a key, or a deletion, that SQLite may write references to the row by itself.
    static let announcing: Int64 = -7

    /// What the outbox says; nil if it is no change.
    init?(_ value: SQLiteValue) {
      switch value {
      case .integer(-1): self = .inserted
      case .integer(-2), .integer(Self.renaming): self = .deleted
      case .integer(-3), .integer(Self.mismatchingReplaced): self = .replaced
      case .integer(Self.mismatching): self = .mismatched
      case .integer(Self.announcing): self = .impending
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
  /// When the row left its former key; nil if it has not come from another.
  var left: HybridTime?
  /// Whether a row that may be replaced is not one of those that are sent.
  var isMismatching = false
  /// Whether a row was deleted because another one was that is not one of those that are sent.
  var followsMismatching = false
  /// The columns that nobody has set but SQLite, because the row that they refer to got another key, or was deleted.
  var cascadedColumns: Set<String> = []
  /// What kept columns held before and after, by their places.
  var former: [SQLiteValue] = []
  var values: [SQLiteValue] = []

  /// Whether the row of an edit goes on as that of this one, which was given its key.
  func isArrival(of former: CapturedEdit) -> Bool {
    former.isRenaming && change == .inserted && former.id + 1 == id && former.table == table
  }
}

extension [CapturedEdit] {
  /// The edits of a key, with the deletions of rows that were replaced because others were given it: SQLite tells of them in
  /// no other way.
  func endingReplaced() -> [CapturedEdit] {
    guard contains(where: { $0.left != nil }) else { return self }
    var result: [CapturedEdit] = []
    for edit in self {
      if let left = edit.left, var note = result.lastNote() {
        (note.change, note.time) = (.deleted, left)
        result.append(note)
      }
      result.append(edit)
    }
    return result
  }

  /// The last note that the row of the key may be replaced, best with its values; nil if it was deleted since.
  private func lastNote() -> CapturedEdit? {
    let ends = lastIndex { $0.change == .deleted }.map { $0 + 1 } ?? 0
    let notes = self[ends...].filter { $0.change == .replaced && !$0.isMismatching }
    return notes.last { !$0.former.isEmpty } ?? notes.last
  }
}

import CloudSyncCore
import CloudSyncSQLiteSupport

/// What the engine knows of a row's record.
struct RowState: Sendable {
  /// A column that was edited and is not in the cloud yet.
  struct Edit: Sendable, Hashable {
    /// The column's name; nil for all of them, of a row that is new.
    var column: String?
    var time: HybridTime
  }

  /// What a row waits for that the next fetch tells about.
  static let nextFetch = "?"
  /// What is void because a deletion of this device's own may have taken it away.
  static let doubtful: Int64 = 3

  let table: Int64
  let key: SQLiteValue
  let recordName: String
  /// The record as the cloud has acknowledged it; nil if it has none.
  var server: Record?
  /// Edits that are not in the cloud, in the order of their columns' names.
  var edits: [Edit] = []
  /// When the row was inserted and deleted last, if that is not in the cloud.
  var createdAt: HybridTime?
  var deletedAt: HybridTime?
  /// When the row was inserted that was the first to be sent and not answered, if it was deleted and
  /// made again since.
  var firstCreatedAt: HybridTime?
  /// Its place among what is to be sent; nil if there is nothing to send.
  var dirty: Int64?
  /// The session's operation that carries it, and the last page that was stored when it was sent, if
  /// that is not known to be in the cloud.
  var operation: Int64?
  var sentPage: Int64?
  /// The last page that told about it.
  var page: Int64?
  /// Why it was set aside.
  var errorCode: Int64?
  var error: String?
  /// The record that it needs first.
  var waitsFor: String?
  /// What came from the cloud and could not be applied yet.
  var payload: Record?
  /// What the row is to be, while it cannot be in the table so; a deletion for one that cannot go.
  var shelf: Record?
  /// Why it cannot, but for a missing parent.
  var shelfCode: Int64?
  var shelfError: String?
  /// The record as it was when the cloud deleted it, while it is not settled whether the row goes too.
  var former: Record?
  /// Whether `server` and `payload` may be of a zone that is gone, so that they must be sent whole: 1
  /// until a fetch of everything has looked for the record, then 2; or ``doubtful``.
  var void: Int64?

  init(table: Int64, key: SQLiteValue, recordName: String) {
    self.table = table
    self.key = key
    self.recordName = recordName
  }

  var place: RowPlace { RowPlace(table: table, key: key) }

  var isVoid: Bool { void != nil }
  /// Whether its payload is all that is known, and waits for another record in a zone that may be gone.
  var isHeld: Bool { isVoid && shelf == nil && waitsFor != nil }

  /// Whether there is an edit or a deletion that the cloud has not got.
  var isEdited: Bool { dirty != nil }

  /// Whether the row is gone and the cloud does not know it.
  var isDeleted: Bool {
    guard let deletedAt else { return false }
    return createdAt.map { $0 <= deletedAt } ?? edits.isEmpty
  }

  /// Whether a row that the cloud has, of which nothing was known, was made by this device.
  func isMadeHere(_ server: RowVersion) -> Bool {
    guard let last = createdAt, let created = server.createdAt else { return false }
    return created <= last && created >= firstCreatedAt ?? last
  }

  /// Whether a record is the version that was acknowledged, and nothing is left to be done with it.
  func isKnown(_ record: Record) -> Bool {
    guard !isVoid, waitsFor == nil, errorCode == nil, let tag = record.changeTag,
      let known = server?.changeTag
    else { return false }
    return UTF8Bytes.equal(tag, known)
  }

  /// When a column was edited; nil if it was not.
  func editTime(of column: String) -> HybridTime? {
    var time: HybridTime?
    for edit in edits where edit.column == nil || edit.column == column {
      time = max(time ?? edit.time, edit.time)
    }
    return time
  }

  // MARK: Changes

  /// Takes what a trigger has captured.
  mutating func take(_ entry: OutboxEntry, columns: [String]) {
    errorCode = nil
    error = nil
    if dirty == nil { dirty = entry.id }
    switch entry.change {
    case .inserted:
      let mayBeThere = server == nil && sentPage != nil
      firstCreatedAt = mayBeThere ? firstCreatedAt ?? createdAt : nil
      // Of a row that was there before the engine nobody knows when it was made.
      createdAt = entry.time == .zero ? nil : entry.time
      edits = [Edit(column: nil, time: entry.time)]
    case .deleted, .replaced:
      edits = []
      deletedAt = entry.time
    case .updated(let bits):
      for (column, isChanged) in zip(columns, bits) where isChanged {
        edits.removeAll { $0.column == column }
        edits.append(Edit(column: column, time: entry.time))
      }
      edits.sort { ($0.column ?? "") < ($1.column ?? "") }
    }
  }

  /// Limits an edit of the whole row to the columns that there were.
  mutating func limitWholeEdit(to columns: [String]) {
    guard let whole = edits.first(where: { $0.column == nil }) else { return }
    var times: [String: HybridTime] = [:]
    for column in columns { times[column] = whole.time }
    for case (let column?, let time) in edits.map({ ($0.column, $0.time) }) {
      times[column] = max(times[column] ?? time, time)
    }
    edits = times.map { Edit(column: $0.key, time: $0.value) }
      .sorted { ($0.column ?? "") < ($1.column ?? "") }
  }

  /// Forgets the edits that the cloud has got, with these times; newer ones stay.
  mutating func acknowledge(_ times: [(column: String, time: HybridTime)]) {
    var whole = edits.first { $0.column == nil }?.time
    for (column, time) in times {
      edits.removeAll { $0.column == column && $0.time <= time }
    }
    if let sent = whole, times.contains(where: { $0.time >= sent }) { whole = nil }
    if whole == nil { edits.removeAll { $0.column == nil } }
  }

  /// Takes what a merge has left to be sent.
  mutating func take(_ merged: RowMerge.Result) {
    edits = merged.changesForCloud.map { Edit(column: $0.name, time: $0.time) }
    createdAt = merged.merged.createdAt
    deletedAt = merged.merged.deletedAt
    if merged.isClean {
      settle()
    } else {
      dirty = dirty ?? 0
    }
  }

  /// Notes that what came may be of a zone that is gone; nil if it is the cloud's.
  mutating func mark(void: Int64?) {
    self.void = void
    guard let void else { return }
    // It is to be sent, whatever a merge says, but not before a fetch has looked for it.
    dirty = dirty ?? 0
    if void == 1 { waitsFor = Self.nextFetch }
  }

  /// Notes that the cloud has everything.
  mutating func settle() {
    edits = []
    createdAt = nil
    deletedAt = nil
    firstCreatedAt = nil
    dirty = nil
  }
}

/// An edit as a trigger has captured it.
struct OutboxEntry: Sendable {
  enum Change: Sendable, Hashable {
    case inserted
    case deleted
    /// Deleted if it is not there any more: another row may have been written over it.
    case replaced
    /// Whether each column was changed.
    case updated([Bool])
  }

  /// How a change is written that is ``Change/replaced``.
  static let replaced = "r"

  let id: Int64
  /// When it was made; zero if nobody knows.
  let time: HybridTime
  let table: Int64
  let key: SQLiteValue
  let change: Change

  init(id: Int64, table: Int64, key: SQLiteValue, change: String?, isAdopted: Bool) {
    self.id = id
    time = isAdopted ? .zero : HybridTime(rawValue: id)
    self.table = table
    self.key = key
    self.change =
      switch change {
      case nil: .inserted
      case ""?: .deleted
      case Self.replaced?: .replaced
      case let bits?: .updated(bits.utf8.map { $0 == UInt8(ascii: "1") })
      }
  }
}

// MARK: - Coded form

extension RowState {
  /// Edits as the engine's tables have them.
  static func encode(_ edits: [Edit]) -> [UInt8] {
    var writer = BinaryWriter(reserving: 32)
    writer.write(edits)
    return writer.bytes
  }
}

extension RowState.Edit: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("column", column)
      $0.field("time", time.rawValue)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    self = try reader.object { (reader) throws(CodedError) in
      RowState.Edit(
        column: try reader.field("column"),
        time: HybridTime(rawValue: try reader.field("time"))
      )
    }
  }
}

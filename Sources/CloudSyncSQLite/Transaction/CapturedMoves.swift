import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The rows whose keys were changed here since the outbox was read last: where each was, and where it is now.
///
/// Of keys in between nobody hears. What a row had stays as old as it was under its former key: what others have edited
/// of it meanwhile is compared with that, and not with the change of the key.
struct CapturedMoves {
  /// A row under one of its keys.
  private struct Life {
    /// What was known of it, under whatever key it had then.
    var version: RecordVersion?
    /// What the cloud was known to have of the columns that a policy looks at.
    var base: [VersionedColumn] = []
    /// The versions that it was made from, if it was edited and not sent.
    var ancestors: [Ancestor] = []
    /// When columns were set since then.
    var times: [String: HybridTime] = [:]
    /// When all others were set that the version does not tell of; nil if that was when the key was changed.
    var initial: HybridTime?
    /// The same when the row got its key.
    var timesBefore: [String: HybridTime] = [:]
    /// The last life of a row that had been inserted with this key, and that had ended before this one, or had gone on under
    /// another key.
    var since: HybridTime
    /// The same of those that were deleted.
    var ended: HybridTime
    /// The first of the lives that are one row with this one; nil if there is none.
    var first: HybridTime?
    /// When this life began; nil if there is no row.
    var created: HybridTime?
    /// Which row it is, if it was given its key.
    var row: RowOrigin?
    /// Whether it was there when the outbox was read last.
    var isKnown = false
    /// Whether its table is known to have had it just now.
    var isThere = false
    /// When its row was inserted, if it was found in the table: which life it is nobody knows.
    var inserted: HybridTime?
    /// Where it was when the outbox was read last, or was inserted since; nil if it has not moved.
    var start: Start?

    /// The last ones of inserted rows that will have ended when this life is deleted, and when it is given another key.
    var lastDeleted: HybridTime { row == nil ? created ?? ended : ended }
    var lastGone: HybridTime { row == nil ? created ?? since : since }

    /// Where it was, if it goes on as what has a key; nil if it is there without having moved, as far as others know.
    func start(before key: RowKey) -> Start? {
      guard let start, isKnown || start.row != key else { return nil }
      return start
    }

    /// When a column was set; nil if nobody knows.
    func time(of column: String) -> HybridTime? {
      times[column] ?? version?.clock.time(of: column) ?? initial
    }
  }

  /// Where a row was whose key was changed, and that it goes on as another record.
  private struct Start {
    var row: RowKey
    var move: RowMove
  }

  private var lives: [RowKey: Life] = [:]
  private var moves: [RowKey: [RowMove]] = [:]
  /// The rows that were given a key and deleted then, by that.
  private var deleted: [RowKey: Life] = [:]
  /// The keys that rows were given, for good or in between, such as those of a swap.
  private var given: Set<RowKey> = []
  /// The rows that `UPDATE OR REPLACE` has removed since others were given their keys, and when: SQLite tells of them in no
  /// other way.
  private var replaced: [RowKey: HybridTime] = [:]
  private var last: CapturedEdit?
  /// What SQLite has set.
  private let cascades: CapturedCascades

  private init(_ cascades: CapturedCascades) { self.cascades = cascades }

  /// Follows rows from key to key; nothing may have happened to them yet in the transaction.
  init(
    _ outbox: CapturedEditReader,
    _ cascades: CapturedCascades,
    in transaction: SyncTransaction
  ) throws(SQLiteError) {
    var built = CapturedMoves(cascades)
    try outbox.walkIfRenamed { (edit) throws(SQLiteError) in try built.take(edit, in: transaction) }
    for (row, present) in built.lives {
      let life = present.created == nil ? built.deleted[row] : present
      guard let start = life?.start(before: row) else { continue }
      built.moves[start.row, default: []].append(start.move)
    }
    self = built
  }

  // MARK: What they come to

  /// As what the record of a key goes on, life by life.
  func moves(of key: RecordKey, in table: RecordTable) -> [RowMove] {
    moves.isEmpty ? [] : moves[table.rowKey(of: key)] ?? []
  }

  /// Whether rows have only had a key in between.
  func isPassed(_ key: RecordKey, in table: RecordTable) -> Bool {
    if given.isEmpty { return false }
    let row = table.rowKey(of: key)
    return given.contains(row) && lives[row]?.created == nil && deleted[row] == nil
      && replaced[row] == nil
  }

  /// Has a row's edits tell what has become of it, beside the moves.
  ///
  /// A row that was given its key keeps what it had under the former one. Of one that has only had the key in between
  /// nobody hears, and its end ends nothing that others have given the key to.
  func settle(_ row: inout CapturedRow, in table: RecordTable) {
    let rowKey = given.isEmpty ? nil : table.rowKey(of: table.format.key(spelled: row.key))
    guard let rowKey, given.contains(rowKey), let present = lives[rowKey] else { return }
    let last = row.edits.lastIndex { $0.isInsertion }
    guard let life = present.created == nil ? deleted[rowKey] : present else {
      // What was captured under a key that others have passed through is theirs.
      if let end = replaced[rowKey] { return row.edits = row.edits.ending(at: end) }
      row.edits.removeAll { $0.isInsertion }
      return
    }
    // Edits that do not tell how the row came are those of the row that has the key.
    guard let last, case .inserted(let columns, let time) = row.edits[last] else { return }
    if let start = life.start(before: rowKey) {
      let origin = MovedRow(
        row: start.move.row,
        version: life.version,
        base: life.base,
        ancestors: life.ancestors,
        times: life.timesBefore,
        initial: life.initial ?? time,
        key: table.key
      )
      row.edits[last] = .moved(columns, from: origin, at: start.move.arrival)
    }
    let before = row.edits[..<last].filter { !$0.isInsertion }
    row.edits = (replaced[rowKey].map { before.ending(at: $0) } ?? before) + row.edits[last...]
  }

  // MARK: Edits

  private mutating func take(
    _ edit: CapturedEdit,
    in transaction: SyncTransaction
  ) throws(SQLiteError) {
    let former = last
    last = edit
    guard let place = transaction.tables.place(ofID: edit.table) else { return }
    let table = transaction.tables[place]
    let rowKey = rowKey(of: edit, in: table)
    switch edit.change {
    case .mismatched, .impending: break
    case .replaced where edit.isMismatching: break
    case .replaced:
      var life = try life(of: edit, in: place, transaction)
      life.isThere = true
      lives[rowKey] = life
    case .updated(let bits):
      var life = try life(of: edit, in: place, transaction)
      for (number, column) in table.captured.watched where bits.contains(number) {
        let isCascaded = cascades.columns[edit.id]?.contains(column.name) ?? false
        let known = isCascaded ? life.time(of: column.name) : nil
        life.times[column.name] = known?.successor ?? edit.time
      }
      life.isThere = true
      lives[rowKey] = life
    case .deleted where edit.isRenaming: break
    case .deleted:
      let ended = try life(of: edit, in: place, transaction)
      lives[rowKey] = Life(
        initial: edit.time,
        since: ended.lastGone,
        ended: ended.lastDeleted
      )
      let hasMoved = ended.start.map { $0.row != rowKey } ?? false
      deleted[rowKey] = hasMoved ? ended : nil
    case .inserted:
      if let former, edit.isArrival(of: former) {
        return try move(former, to: edit, in: place, transaction)
      }
      var known = try life(of: edit, in: place, transaction)
      if known.isThere {
        // It is written over, and stays the same row.
        for (_, column) in table.captured.watched { known.times[column.name] = edit.time }
        known.timesBefore = known.times
        lives[rowKey] = known
        return
      }
      let created = known.created ?? max(edit.time, known.since.successor)
      lives[rowKey] = Life(
        initial: edit.time,
        since: known.since,
        ended: known.ended,
        created: created,
        isThere: true
      )
      deleted[rowKey] = nil
    }
  }

  private mutating func move(
    _ former: CapturedEdit,
    to edit: CapturedEdit,
    in place: Int,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) {
    let table = transaction.tables[place]
    let (origin, target) = (rowKey(of: former, in: table), rowKey(of: edit, in: table))
    var life = try life(of: former, in: place, transaction)
    let known = try self.life(of: edit, in: place, transaction)
    let began = life.created ?? former.time
    if known.isThere { replaced[target] = former.time }
    let ended = known.isThere ? known.lastDeleted : known.ended
    let name = table.format.key(spelled: former.key).name
    let isFollowing = cascades.moves.contains(edit.id)
    var start =
      life.start
      ?? Start(
        row: origin,
        move: RowMove(
          row: life.row ?? RowOrigin(name: name, created: life.inserted ?? began),
          isOfInserted: life.row == nil,
          since: life.since,
          first: life.inserted ?? life.first ?? began,
          life: began,
          time: former.time,
          arrival: edit.time,
          name: name,
          isFollowing: isFollowing
        )
      )
    start.move.arrival = edit.time
    start.move.ended = ended
    start.move.name = table.format.key(spelled: edit.key).name
    if !isFollowing { start.move.isFollowing = false }
    lives[origin] = Life(initial: former.time, since: life.lastGone, ended: life.ended)
    life.start = start
    life.row = start.move.row
    life.since = known.isThere ? known.lastGone : known.since
    life.ended = ended
    life.created = start.move.nextLife
    life.isThere = true
    life.timesBefore = life.times
    lives[target] = life
    deleted[target] = nil
    given.insert(target)
  }

  /// The row of an edit's key, as it is before the edit.
  private func life(
    of edit: CapturedEdit,
    in place: Int,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> Life {
    let table = transaction.tables[place]
    if let known = lives[rowKey(of: edit, in: table)] { return known }
    let row = try transaction.row(spelled: edit.key, in: place)
    guard let version = row.state.row else {
      // A row that is found counts as older than all edits.
      let isSought = try transaction.facts.unreconciledTables().contains(table.id)
      let isFound = transaction.isCopied || isSought
      // Which life of the cloud's a row is that was found, nobody knows.
      return Life(
        initial: isFound ? .zero : nil,
        since: .zero,
        ended: .zero,
        created: edit.time,
        isKnown: isFound,
        inserted: isFound ? RecordClock.foundCreation : nil
      )
    }
    let clock = version.clock
    if row.isDeleted {
      return Life(
        initial: edit.time,
        since: max(clock.ended, clock.lastMoved),
        ended: clock.ended
      )
    }
    return Life(
      version: version,
      base: row.state.bases,
      ancestors: row.state.ancestors,
      since: clock.lastEnd,
      ended: clock.lastDeleted,
      first: clock.first,
      created: version.created,
      row: clock.row,
      isKnown: true,
      isThere: row.state.placement == .inTable
    )
  }

  private func rowKey(of edit: CapturedEdit, in table: RecordTable) -> RowKey {
    table.rowKey(of: table.format.key(spelled: edit.key))
  }
}

extension RowEdit {
  /// Whether a row was inserted.
  fileprivate var isInsertion: Bool { if case .inserted = self { true } else { false } }
}

extension [RowEdit] {
  /// The edits of a row that was replaced at a time; no more than that, if what was edited before went with it.
  fileprivate func ending(at time: HybridTime) -> [RowEdit] {
    let end = lastIndex { if case .deleted(_, time) = $0 { true } else { false } }
    guard let end else { return [.deleted([], at: time)] }
    return self[...end].filter { !$0.isInsertion }
  }
}

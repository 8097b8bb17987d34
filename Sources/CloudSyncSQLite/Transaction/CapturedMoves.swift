import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The rows whose keys were changed here since the outbox was read last, from key to key.
///
/// What a row had stays as old as it was under its former key: what others have edited of it meanwhile is compared with
/// that, and not with the change of the key.
struct CapturedMoves {
  /// A row under one of its keys.
  private struct Life {
    /// What was known of it, under whatever key it had then.
    var version: RecordVersion?
    /// When columns were set since then.
    var times: [String: HybridTime] = [:]
    /// When all others were set that the version does not tell of; nil if that was when the key was changed.
    var initial: HybridTime?
    /// The same when the row got its key.
    var timesBefore: [String: HybridTime] = [:]
    /// The record's life that had ended before this one.
    var since: HybridTime
    /// When this life began; nil if there is no row.
    var created: HybridTime?
    var hasMoved = false

    /// When a column was set; nil if nobody knows.
    func time(of column: String) -> HybridTime? {
      times[column] ?? version?.clock.time(of: column) ?? initial
    }
  }

  private var lives: [RowKey: Life] = [:]
  private var moves: [RowKey: [RowMove]] = [:]
  /// The moves that lead to a row, by the row that has moved and the number of its move.
  private var leading: [RowKey: [(row: RowKey, number: Int)]] = [:]
  /// The keys that rows have only had in between, such as those of a swap.
  private var passed: Set<RowKey> = []
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
    self = built
  }

  // MARK: What they come to

  /// As what the record of a key goes on, life by life.
  func moves(of key: RecordKey, in table: RecordTable) -> [RowMove] {
    moves.isEmpty ? [] : moves[table.rowKey(of: key)] ?? []
  }

  /// Whether rows have only had a key in between: nobody has to hear of it.
  func isPassed(_ key: RecordKey, in table: RecordTable) -> Bool {
    !passed.isEmpty && passed.contains(table.rowKey(of: key))
  }

  /// Has a row that was given its key keep what it had under the former one.
  func add(to row: inout CapturedRow, in table: RecordTable) {
    if moves.isEmpty { return }
    guard let life = lives[table.rowKey(of: table.format.key(spelled: row.key))], life.hasMoved,
      let last = row.edits.lastIndex(where: { if case .inserted = $0 { true } else { false } }),
      case .inserted(let columns, let time) = row.edits[last]
    else { return }
    let origin = MovedRow(
      version: life.version,
      times: life.timesBefore,
      initial: life.initial ?? time,
      key: table.key
    )
    row.edits[last] = .moved(columns, from: origin, at: time)
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
    case .replaced, .mismatched, .impending: break
    case .updated(let bits):
      var life = try life(of: edit, in: place, transaction)
      for (number, column) in table.captured.watched where bits.contains(number) {
        let isCascaded = cascades.columns[edit.id]?.contains(column.name) ?? false
        let known = isCascaded ? life.time(of: column.name) : nil
        life.times[column.name] = known?.successor ?? edit.time
      }
      lives[rowKey] = life
    case .deleted where edit.isRenaming: break
    case .deleted:
      let ended = try life(of: edit, in: place, transaction)
      begin(Life(initial: edit.time, since: ended.created ?? ended.since), of: rowKey)
    case .inserted:
      if let former, former.isRenaming, former.id + 1 == edit.id, former.table == edit.table {
        return try move(former, to: edit, in: place, transaction)
      }
      let known = try life(of: edit, in: place, transaction)
      let created = known.created ?? max(edit.time, known.since.successor)
      begin(Life(initial: edit.time, since: known.since, created: created), of: rowKey)
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
    let move = RowMove(
      // Of a key that the row has only passed no life but this one goes along: another device may have given it to a row.
      since: life.hasMoved ? HybridTime(rawValue: began.rawValue - 1) : life.since,
      life: began,
      time: former.time,
      arrival: edit.time,
      ended: known.since,
      name: table.format.key(spelled: edit.key).name,
      isFollowing: cascades.moves.contains(edit.id)
    )
    // Of keys that the row had in between nobody may ever hear.
    let leads = leading.removeValue(forKey: origin) ?? []
    for (row, number) in leads {
      moves[row]?[number].name = move.name
      moves[row]?[number].arrival = move.arrival
      moves[row]?[number].ended = move.ended
      if !move.isFollowing { moves[row]?[number].isFollowing = false }
    }
    leading[target] = leads + [(origin, moves[origin]?.count ?? 0)]
    moves[origin, default: []].append(move)
    if life.hasMoved { passed.insert(origin) }
    passed.remove(target)
    lives[origin] = Life(initial: former.time, since: move.life)
    life.since = known.since
    life.created = known.created ?? move.nextLife
    life.timesBefore = life.times
    life.hasMoved = true
    lives[target] = life
  }

  private mutating func begin(_ life: Life, of row: RowKey) {
    lives[row] = life
    leading[row] = nil
    passed.remove(row)
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
      return Life(initial: isFound ? .zero : nil, since: .zero, created: edit.time)
    }
    if row.isDeleted(by: table.rules) { return Life(initial: edit.time, since: version.ended) }
    return Life(version: version, since: version.clock.lastEnd, created: version.created)
  }

  private func rowKey(of edit: CapturedEdit, in table: RecordTable) -> RowKey {
    table.rowKey(of: table.format.key(spelled: edit.key))
  }
}

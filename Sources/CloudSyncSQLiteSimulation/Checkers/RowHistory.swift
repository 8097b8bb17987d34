import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// What all users have done with one row.
struct RowHistory {
  let id: RowID
  var edits: [(device: Int, edit: RowEdit)] = []
  /// The rows that it was before, under other keys.
  var origins: [RowID] = []
  /// Whether somebody has deleted it under a former key, and it has come back before it got the next one.
  var hasComeBack = false
  /// Whether only the engines know what becomes of it.
  var isUnsure = false
  /// The edits that are of another row's history, since the row has got another key: it may have to keep its former one.
  var carried: [RowEdit] = []
  /// Their places.
  var moved: [Int] = []

  var deletions: [RowEdit] { edits.map(\.edit).filter(\.isDeletion) }
  var insertions: [RowEdit] { edits.map(\.edit).filter(\.isInsertion) }

  /// Whether somebody has deleted it, under whatever key; a change of its key is none.
  var wasDeleted: Bool { hasComeBack || !deletions.isEmpty }

  /// Whether more than one device has inserted it: they need not have known of each other.
  var isDoubled: Bool {
    Set(edits.filter { $0.edit.isInsertion && !$0.edit.isSeed }.map(\.device)).count
      + (edits.contains { $0.edit.isSeed } ? 1 : 0) > 1
  }

  /// Whether it was inserted or deleted at a time that nobody knows.
  var hasUnknownLife: Bool {
    edits.contains { _, edit in
      !edit.isCaptured && !edit.isSeed && (edit.isInsertion || edit.isDeletion)
    }
  }

  /// Tells of a value that nobody has ever set.
  func invention(column: SimulatedSchema.Column, value: SQLiteValue) -> String? {
    if value == .null || value.literal == column.initial { return nil }
    let all = edits.map(\.edit) + carried
    if all.contains(where: { $0.value(of: column.name) == value }) { return nil }
    return "\(column.name) \(value.literal), which nobody has set"
  }

  /// All of it, in the order of time.
  var words: String {
    edits.sorted { $0.edit.time < $1.edit.time }
      .map { device, edit in
        let time = edit.isCaptured ? "at \(edit.time)" : "unseen"
        return "device \(device) \(Self.words(edit)) \(time)"
          + (edit.life.map { " in life \($0)" } ?? "")
      }
      .joined(separator: "; ")
  }

  private static func words(_ edit: RowEdit) -> String {
    switch edit.change {
    case .inserted(let values):
      "inserted it"
        + values.filter { $0.value != .null }.map { " \($0.column): \($0.value.literal)" }.joined()
    case .set(let column, let value): "set \(column) to \(value.literal)"
    case .added(let column, let amount): "added \(amount) to \(column)"
    case .deleted: "deleted it"
    case .deletedWithParent: "deleted it with its parent"
    }
  }

  /// The rows that it has ever referred to by their keys.
  func parents(schema: SimulatedSchema) -> [RowID] {
    let tables = schema.tables(version: SimulatedSchema.Version())
    guard let table = tables.first(where: { $0.name == id.table }) else { return [] }
    var found: [RowID] = []
    for (column, value) in zip(table.key, id.key) {
      if let parent = column.parent { found.append(RowID(table: parent, key: [value])) }
    }
    for column in table.columns {
      guard let parent = column.parent else { continue }
      for (_, edit) in edits {
        guard let value = edit.value(of: column.name), value != .null else { continue }
        found.append(RowID(table: parent, key: [value]))
      }
    }
    return found
  }
}

/// What all users have done, row by row.
struct RowHistories {
  private(set) var inOrder: [RowHistory] = []
  /// The names of the records that were removed from the cloud by nobody who has edited.
  var vanished: Set<String> = []
  /// The keys that rows got instead of others.
  private(set) var renames: [RowID: [RowID]] = [:]
  /// Whether an engine has read what was captured of parents without that of their children.
  private(set) var haveBeenReadInParts = false
  /// Where rows have gone whose keys were changed.
  private(set) var lives = RowRenames([])
  private var places: [RowID: Int] = [:]

  init(_ devices: [SQLiteDevice]) {
    for device in devices {
      let (seeds, edits, hasDropped, hasReadInParts) = device.history.withLock {
        ($0.seeds, $0.edits, $0.version.hasDropped, $0.hasReadInParts)
      }
      if hasReadInParts { haveBeenReadInParts = true }
      for edit in seeds + edits {
        if let origin = edit.origin { renames[origin, default: []].append(edit.row) }
        if places[edit.row] == nil {
          places[edit.row] = inOrder.count
          inOrder.append(RowHistory(id: edit.row))
        }
        guard let place = places[edit.row] else { continue }
        var edit = edit
        // What is dropped before it is read is lost.
        if hasDropped { edit.unsureColumn = "b" }
        inOrder[place].edits.append((device: device.setup.number, edit: edit))
      }
    }
    for place in inOrder.indices where inOrder[place].edits.contains(where: { $0.edit.mayStay }) {
      inOrder[place].isUnsure = true
    }
    lives = RowRenames(inOrder)
    let schema = devices.first?.schema
    let before = self
    lives.moveEdits(
      in: &inOrder,
      places: places,
      parents: { row in schema.map { RowHistory(id: row).parents(schema: $0) } ?? [] },
      deletes: { table in schema?.deletes(of: table) ?? .deleteWins },
      mayGo: { history in
        schema.map { $0.deletesChildren && before.isShaken(history: history, schema: $0) } ?? false
      }
    )
  }

  subscript(id: RowID) -> RowHistory? { places[id].map { inOrder[$0] } }

  /// Whether somebody has removed the record of a row, or of one that it was before, with another tool.
  func isVanished(_ history: RowHistory) -> Bool {
    if vanished.isEmpty { return false }
    return ([history.id] + history.origins).contains { vanished.contains($0.recordName) }
  }

  /// The values that a row may have brought along in a column from rows that it was before, where who has given it its key
  /// had no such column.
  func carried(by edit: RowEdit, in column: SimulatedSchema.Column) -> [String] {
    guard let origin = edit.origin, edit.value(of: column.name) == nil else { return [] }
    var values = [column.initial]
    var open = [origin]
    var known: Set<RowID> = []
    while let id = open.popLast() {
      guard known.insert(id).inserted, let history = self[id] else { continue }
      values += history.edits.compactMap { $0.edit.value(of: column.name)?.literal }
      open += history.edits.compactMap(\.edit.origin)
    }
    return values
  }

  /// Whether a value of a row is one that somebody has set, and that went along when its key was changed.
  func hasGone(_ id: RowID, with value: SQLiteValue, in column: SimulatedSchema.Column) -> Bool {
    inOrder.contains { history in
      history.origins.contains(id)
        && history.edits.contains { $0.edit.value(of: column.name) == value }
    }
  }

  /// Whether a row refers by its key to one that had another key before: those who had added it to the old key have it
  /// follow.
  func hasRenamedParent(_ id: RowID, in schema: SimulatedSchema) -> Bool {
    RowHistory(id: id).parents(schema: schema)
      .contains { parent in
        guard let history = self[parent] else { return false }
        return !history.origins.isEmpty || history.edits.contains { $0.edit.origin != nil }
      }
  }

  /// Whether a row that it ever referred to was ever deleted, or has gone where only the engines know, or it refers to
  /// rows by something that moves.
  func isShaken(history: RowHistory, schema: SimulatedSchema) -> Bool {
    if history.id.table == "uses" { return true }
    return history.parents(schema: schema)
      .contains { parent in
        guard let other = self[parent] else { return false }
        return other.isUnsure || !other.deletions.isEmpty || vanished.contains(parent.recordName)
          || isShaken(history: other, schema: schema)
      }
  }
}

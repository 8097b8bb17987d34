import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A row of a synchronized table, by its key as the engine's tables have it.
struct RowPlace: Sendable, Hashable {
  let table: Int64
  let key: SQLiteValue
}

/// What follows if rows are deleted, before any of them is.
///
/// Some of the rows cannot go, because others that stay refer to them and may neither go nor be
/// detached; they are kept, with all rows that would have had them deleted.
struct DeletionPlan {
  /// What becomes of a row when its parent goes.
  enum Consequence: Sendable, Hashable {
    case delete
    case detach
    /// It gets its defaults, if there is a row that they refer to.
    case setDefault
    /// It stays as it is, and so its parent must stay.
    case stay
  }

  /// A row that refers to one that is to go.
  struct Child {
    /// Nil for a row of a table that is not synchronized.
    let place: RowPlace?
    let reference: TableReference
    let consequence: Consequence
    /// Whom its defaults refer to, if it gets them.
    var target = Target.nobody
  }

  /// Whom the defaults of a foreign key refer to.
  enum Target: Sendable {
    /// They are NULL.
    case nobody
    /// There is no such row, or they cannot be set.
    case missing
    case row(RowPlace)
  }

  /// A row that gets other references.
  struct Detachment {
    let place: RowPlace
    let reference: TableReference
    let usesDefaults: Bool
  }

  let work: EngineWork
  private var children: [RowPlace: [Child]] = [:]

  /// The rows that go, each after those that refer to it.
  private(set) var deletions: [RowPlace] = []
  private(set) var detachments: [Detachment] = []
  /// Those of the rows that stay after all.
  private(set) var kept: [RowPlace] = []

  init(_ roots: [RowPlace], _ work: EngineWork) throws(SQLiteError) {
    self.work = work
    var roots = roots
    while true {
      let reached = try reach(from: roots)
      let blocked = reached.order.filter { isBlocked($0, reached.parents) }
      if blocked.isEmpty {
        finish(reached.order, reached.parents)
        return
      }
      // Whoever would have had a blocked row deleted stays as well.
      var stack = blocked
      var staying: Set<RowPlace> = []
      while let one = stack.popLast() {
        if staying.insert(one).inserted { stack += reached.parents[one] ?? [] }
      }
      kept += roots.filter { staying.contains($0) }
      roots.removeAll { staying.contains($0) }
    }
  }

  // MARK: Who goes

  /// All rows that go with some, and for each the rows that take it along.
  private mutating func reach(
    from roots: [RowPlace]
  ) throws(SQLiteError) -> (order: [RowPlace], parents: [RowPlace: [RowPlace]]) {
    var order: [RowPlace] = []
    var parents: [RowPlace: [RowPlace]] = [:]
    for root in roots where parents.updateValue([], forKey: root) == nil { order.append(root) }
    var next = 0
    while next < order.count {
      let one = order[next]
      next += 1
      for child in try children(of: one) where child.consequence == .delete {
        guard let place = child.place else { continue }
        if parents[place] == nil { order.append(place) }
        parents[place, default: []].append(one)
      }
    }
    return (order, parents)
  }

  private func isBlocked(_ place: RowPlace, _ going: [RowPlace: [RowPlace]]) -> Bool {
    (children[place] ?? [])
      .contains { child in
        guard let one = child.place else { return child.consequence == .stay }
        if going[one] != nil { return false }
        switch child.consequence {
        case .stay: return true
        case .setDefault:
          switch child.target {
          case .nobody: return false
          case .missing: return true
          case .row(let row): return going[row] != nil
          }
        case .delete, .detach: return false
        }
      }
  }

  private mutating func finish(_ order: [RowPlace], _ going: [RowPlace: [RowPlace]]) {
    var open: [RowPlace: Int] = [:]
    var parents: [RowPlace: [RowPlace]] = [:]
    for one in order {
      for child in children[one] ?? [] {
        guard let place = child.place else { continue }
        if going[place] != nil {
          if place != one {
            open[one, default: 0] += 1
            parents[place, default: []].append(one)
          }
        } else {
          let usesDefaults = child.consequence == .setDefault
          detachments.append(
            Detachment(place: place, reference: child.reference, usesDefaults: usesDefaults)
          )
        }
      }
    }
    // Children first; what is left over refers to itself in a circle.
    var ready = order.filter { open[$0] == nil }
    var done: Set<RowPlace> = []
    while let one = ready.popLast() {
      done.insert(one)
      deletions.append(one)
      for parent in parents[one] ?? [] {
        let count = (open[parent] ?? 1) - 1
        open[parent] = count
        if count == 0 { ready.append(parent) }
      }
    }
    deletions += order.reversed().filter { !done.contains($0) }
  }

  // MARK: Who refers to whom

  private mutating func children(of place: RowPlace) throws(SQLiteError) -> [Child] {
    if let known = children[place] { return known }
    var found: [Child] = []
    if let table = work.tables.byID[place.table] {
      for reference in work.tables.references(to: table) {
        found += try children(of: place, table, by: reference)
      }
    }
    children[place] = found
    return found
  }

  private func children(
    of place: RowPlace,
    _ table: SyncTable,
    by reference: TableReference
  ) throws(SQLiteError) -> [Child] {
    guard let consequence = consequence(of: reference) else { return [] }
    let child = work.tables.table(named: reference.child.name)
    let key = child?.keySQL("c") ?? "NULL"
    let query = try work.connection.statement(
      "SELECT \(key) FROM \(table.name.quotedName) p JOIN \(reference.child.name.quotedName) c"
        + " ON \(reference.match(parent: "p", child: "c"))"
        + " WHERE \(table.keyCondition(from: 1, of: "p"))"
    )
    let values = try table.keyValues(of: place.key, in: work.connection)
    for (index, value) in values.enumerated() { query.bind(value, at: Int32(index + 1)) }
    var keys: [SQLiteValue] = []
    try query.forEachRow { keys.append(query.value(0)) }
    guard let child else {
      return keys.map { _ in Child(place: nil, reference: reference, consequence: consequence) }
    }
    if keys.isEmpty { return [] }
    let target = consequence == .setDefault ? try target(of: reference, table) : .nobody
    return keys.map { key in
      Child(
        place: RowPlace(table: child.id, key: key),
        reference: reference,
        consequence: consequence,
        target: target
      )
    }
  }

  /// What a foreign key demands; nil if SQLite itself does it for a table that is not synchronized.
  private func consequence(of reference: TableReference) -> Consequence? {
    let isSynchronized = work.tables.table(named: reference.child.name) != nil
    switch reference.key.onDelete {
    case .cascade: return isSynchronized ? .delete : nil
    case .setNull: return !isSynchronized ? nil : reference.canBeNull ? .detach : .stay
    case .setDefault:
      guard isSynchronized else { return nil }
      let hasKey = reference.key.columns.contains { reference.child.primaryKey.contains($0) }
      return hasKey ? .stay : .setDefault
    case .restrict, .noAction:
      guard isSynchronized else { return .stay }
      switch work.options.table(reference.child.name).orphans {
      case .restoreParent: return .stay
      case .deleteChildren: return .delete
      case .detachChildren: return reference.canBeNull ? .detach : .stay
      }
    }
  }

  private func target(
    of reference: TableReference,
    _ table: SyncTable
  ) throws(SQLiteError) -> Target {
    let defaults = reference.defaults
    let isNull = defaults.map { "\($0) IS NULL" }.joined(separator: " OR ")
    if try work.connection.integer("SELECT \(isNull)") == 1 {
      let mayBeNull = zip(reference.key.columns, defaults)
        .allSatisfy { name, value in
          reference.child.column(named: name)?.isNotNull == false || value != "NULL"
        }
      return mayBeNull ? .nobody : .missing
    }
    let match = zip(reference.key.referencedColumns, defaults)
      .map { "p.\($0.quotedName) = \($1)" }.joined(separator: " AND ")
    let query = try work.connection.statement(
      "SELECT \(table.keySQL("p")) FROM \(table.name.quotedName) p WHERE \(match) LIMIT 1"
    )
    defer { query.reset() }
    return try query.step() ? .row(RowPlace(table: table.id, key: query.value(0))) : .missing
  }
}

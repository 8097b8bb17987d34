import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What follows if rows are deleted, before any of them is.
///
/// Some of the rows cannot go, because others that stay refer to them and may neither go nor be
/// detached; they are kept, with all rows that would have had them deleted.
struct DeletionPlan {
  /// A row that refers to one that is to go.
  private struct Child {
    /// Nil for a row of a table that is not synchronized, and for one that is in no table because another one has its key.
    let key: RowKey?
    let link: TableLink
    var consequence: ForeignKeyConsequence
    /// Whom its defaults refer to, if it gets them.
    var target = DefaultTarget.nobody
    /// What it is to refer to instead, if the row goes on under another key.
    var successor: [SQLiteValue]?
    /// Whether only the table still has it refer to the row: its own state does not any more, but waits.
    var hasLeft = false

    /// Whether what becomes of the row is of any matter to it.
    var goesAlong: Bool { !hasLeft && successor == nil }
  }

  /// A row that gets other references.
  struct Detachment {
    let key: RowKey
    let link: TableLink
    let usesDefaults: Bool
    /// What it is to refer to instead; nil for nobody.
    var successor: [SQLiteValue]?
    /// Whether only the table's row is to change: the row's state refers to somebody else already.
    let isOfTable: Bool
  }

  private let transaction: SyncTransaction
  /// Rows that have not let go of their parents: SQLite refuses that.
  private let stuck: Set<RowKey>
  private var children: [RowKey: [Child]] = [:]

  /// The rows that go, each after those that refer to it.
  private(set) var deletions: [RowKey] = []
  private(set) var detachments: [Detachment] = []
  /// Those of the rows that stay after all.
  private(set) var kept: [RowKey] = []
  /// Those of the rows for which it is too early to tell.
  private(set) var postponed: [RowKey] = []
  /// Those of the deletions that refer to each other in a circle.
  private(set) var circles: Set<RowKey> = []

  /// Plans.
  ///
  /// - Parameters:
  ///   - roots: The rows that are to go; all are in their tables.
  ///   - transaction: What is known of them.
  ///   - stuck: Rows that have not let go of their parents.
  /// - Throws: SQLite's reason.
  init(
    _ roots: [RowKey],
    in transaction: SyncTransaction,
    stuck: Set<RowKey> = []
  ) throws(SQLiteError) {
    self.transaction = transaction
    self.stuck = stuck
    var roots = roots
    while true {
      let reached = try reach(from: roots)
      // Whoever would have had a row deleted that stays, stays as well.
      let waiting = closure(
        of: reached.order.filter { isWaiting($0, going: reached.parents) },
        parents: reached.parents
      )
      let staying = closure(
        of: reached.order.filter { isBlocked($0, going: reached.parents) },
        parents: reached.parents
      )
      if waiting.isEmpty, staying.isEmpty {
        finish(with: reached.order, going: reached.parents)
        return
      }
      postponed += roots.filter { waiting.contains($0) }
      kept += roots.filter { staying.contains($0) && !waiting.contains($0) }
      roots.removeAll { waiting.contains($0) || staying.contains($0) }
    }
  }

  // MARK: Who goes

  /// All rows that go with some, and for each the rows that take it along.
  private mutating func reach(
    from roots: [RowKey]
  ) throws(SQLiteError) -> (order: [RowKey], parents: [RowKey: [RowKey]]) {
    var order: [RowKey] = []
    var parents: [RowKey: [RowKey]] = [:]
    for root in roots where parents.updateValue([], forKey: root) == nil { order.append(root) }
    var next = 0
    while next < order.count {
      let one = order[next]
      next += 1
      for child in try children(of: one) where child.consequence == .delete && child.goesAlong {
        guard let key = child.key else { continue }
        if parents[key] == nil { order.append(key) }
        parents[key, default: []].append(one)
      }
    }
    return (order, parents)
  }

  private func closure(of rows: [RowKey], parents: [RowKey: [RowKey]]) -> Set<RowKey> {
    var stack = rows
    var all: Set<RowKey> = []
    while let one = stack.popLast() {
      if all.insert(one).inserted { stack += parents[one] ?? [] }
    }
    return all
  }

  /// Whether a row cannot go because others have not let go of it.
  private func isWaiting(_ key: RowKey, going: [RowKey: [RowKey]]) -> Bool {
    (children[key] ?? [])
      .contains { child in
        guard let one = child.key, going[one] == nil else { return false }
        return stuck.contains(one)
      }
  }

  private func isBlocked(_ key: RowKey, going: [RowKey: [RowKey]]) -> Bool {
    (children[key] ?? [])
      .contains { child in
        guard let one = child.key else { return child.consequence == .stay }
        if going[one] != nil || !child.goesAlong { return false }
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

  private mutating func finish(with order: [RowKey], going: [RowKey: [RowKey]]) {
    var open: [RowKey: Int] = [:]
    var parents: [RowKey: [RowKey]] = [:]
    for one in order {
      for child in children[one] ?? [] {
        guard let key = child.key else { continue }
        if going[key] == nil {
          detachments.append(
            Detachment(
              key: key,
              link: child.link,
              usesDefaults: child.consequence == .setDefault && child.goesAlong,
              successor: child.successor,
              isOfTable: child.hasLeft
            )
          )
        } else if key != one {
          open[one, default: 0] += 1
          parents[key, default: []].append(one)
        }
      }
    }
    // Children first; what is left over refers to itself in a circle.
    var ready = order.filter { open[$0] == nil }
    var done: Set<RowKey> = []
    while let one = ready.popLast() {
      done.insert(one)
      deletions.append(one)
      for parent in parents[one] ?? [] {
        let count = (open[parent] ?? 1) - 1
        open[parent] = count
        if count == 0 { ready.append(parent) }
      }
    }
    let rest = order.reversed().filter { !done.contains($0) }
    deletions += rest
    circles = Set(rest)
  }

  // MARK: Who refers to whom

  private mutating func children(of key: RowKey) throws(SQLiteError) -> [Child] {
    if let known = children[key] { return known }
    var found: [Child] = []
    if let row = try transaction.row(key) {
      for link in transaction.tables.links(to: row.place) {
        found += try children(of: row, by: link)
      }
    }
    children[key] = found
    return found
  }

  private func children(of row: LoadedRow, by link: TableLink) throws(SQLiteError) -> [Child] {
    guard let consequence = transaction.tables.consequence(of: link),
      try transaction.isKeyTaken(from: row, by: link) == false
    else { return [] }
    if try DisplacedChildren(transaction: transaction).keep(row, by: link) {
      return [Child(key: nil, link: link, consequence: .stay)]
    }
    let keys = try transaction.foreignKey(of: link).children(of: row.key)
    if keys.isEmpty { return [] }
    guard let place = link.child else {
      return keys.map { _ in Child(key: nil, link: link, consequence: consequence) }
    }
    var found: [Child] = []
    let target = consequence == .setDefault ? try transaction.defaultTarget(of: link) : .nobody
    for key in keys {
      let child = try transaction.row(spelled: key, in: place)
      found.append(
        Child(
          key: child.rowKey,
          link: link,
          consequence: consequence,
          target: target,
          successor: try transaction.renamed.successor(of: row, for: child, by: link),
          hasLeft: transaction.hasLeft(child, by: link)
        )
      )
    }
    return found
  }
}

import CloudSyncSQLiteSchema

/// How the actions of foreign keys follow from each other.
///
/// A row that is deleted may have others deleted, a key that changes may have others change. An event is
/// one of both on one table. Where events lead back to themselves there is a circle: a trigger is not
/// called again while it runs, so what happens in a circle has to be found out in one go.
struct ActionGraph {
  /// What happens to the row that is referred to.
  enum Event: Int, CaseIterable {
    case delete
    case update
  }

  let references: [TableReference]
  private let tables: [String]
  /// The number of the circle or of the single event, by table, for deletions and for updates.
  private var circles: [Event: [String: Int]] = [:]

  init(_ references: [TableReference]) {
    self.references = references
    tables = Set(references.flatMap { [$0.parent.name, $0.child.name] }).sortedByBytes()
    for event in Event.allCases { circles[event] = findCircles(after: event) }
  }

  func action(of reference: TableReference, on event: Event) -> TableSchema.Action {
    event == .delete ? reference.key.onDelete : reference.key.onUpdate
  }

  /// The circle that an action belongs to, so that it may lead to itself; nil if it cannot.
  func circle(of reference: TableReference, on event: Event) -> Int? {
    guard leadsOn(reference, after: event), let known = circles[event],
      let circle = known[reference.parent.name], circle == known[reference.child.name]
    else { return nil }
    return 2 * circle + event.rawValue
  }

  /// Whether an action on the parent is the same event on the child.
  private func leadsOn(_ reference: TableReference, after event: Event) -> Bool {
    switch (event, action(of: reference, on: event)) {
    case (_, .noAction), (_, .restrict): false
    case (.delete, let action): action == .cascade
    case (.update, _):
      // Only where the columns that it sets are referred to in their turn.
      references.contains { next in
        next.parent.name == reference.child.name
          && next.key.referencedColumns.contains { reference.key.columns.contains($0) }
      }
    }
  }

  /// Gives tables that can reach each other the same number.
  private func findCircles(after event: Event) -> [String: Int] {
    var next: [String: [String]] = [:]
    for reference in references where leadsOn(reference, after: event) {
      next[reference.parent.name, default: []].append(reference.child.name)
    }
    var reached: [String: Set<String>] = [:]
    for table in tables {
      var seen: Set<String> = []
      var stack = next[table] ?? []
      while let one = stack.popLast() {
        if seen.insert(one).inserted { stack += next[one] ?? [] }
      }
      reached[table] = seen
    }
    var numbers: [String: Int] = [:]
    for (number, table) in tables.enumerated() where numbers[table] == nil {
      numbers[table] = number
      for other in tables
      where reached[table]?.contains(other) == true && reached[other]?.contains(table) == true {
        numbers[other] = number
      }
    }
    return numbers
  }
}

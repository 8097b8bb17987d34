import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension ActionTriggers {
  /// The trigger that does all that follows in a circle from one row.
  ///
  /// A trigger is not called while it runs, and where an app has allowed that, it is 1,000 times at most.
  /// So a query finds the rows of the whole circle, however long the chain is; they are noted, and
  /// deleted or changed table by table. While rows are noted no other trigger of the circle does anything.
  func circles(of table: RecordTable, after event: ActionGraph.Event) -> [String] {
    let byCircle = Dictionary(grouping: graph.references.indices) { place in
      graph.circle(of: graph.references[place], on: event) ?? -1
    }
    let own = graph.references
      .first { $0.parent.name == table.name && graph.circle(of: $0, on: event) != nil }
    guard let circle = own.flatMap({ graph.circle(of: $0, on: event) }) else { return [] }
    let body = Circle(
      number: circle,
      event: event,
      edges: byCircle[circle] ?? [],
      graph: graph,
      tables: tables
    )
    let isIdle = "NOT EXISTS(SELECT 1 FROM cloudsync_circle WHERE circle = \(circle))"
    guard event == .update else {
      return trigger(
        "circle_delete",
        on: table,
        at: "AFTER DELETE",
        when: isIdle,
        body: body.statements(in: table)
      )
    }
    let isChanged = graph.references.filter { $0.parent.name == table.name }
      .map { "NOT (\($0.isSameKey(old: "old", new: "new")))" }.joined(separator: " OR ")
    return trigger(
      "circle_update",
      on: table,
      at: "AFTER UPDATE",
      when: "(\(isChanged)) AND \(isIdle)",
      body: body.statements(in: table)
    )
  }
}

/// The statements of one circle.
private struct Circle {
  let number: Int
  let event: ActionGraph.Event
  /// The places of its references in the graph.
  let edges: [Int]
  let graph: ActionGraph
  let tables: [RecordTable]

  private func reference(at place: Int) -> TableReference { graph.references[place] }

  /// What the trigger of a table does: note, act, forget.
  func statements(in table: RecordTable) -> [String] {
    let starts = edges.filter { reference(at: $0).parent.name == table.name }
    let widest = edges.map { reference(at: $0).child.primaryKey.count }.max() ?? 1
    let values = event == .delete ? 0 : edges.map { reference(at: $0).key.columns.count }.max() ?? 0
    let columns = (0..<widest).map { "k\($0)" } + (0..<values).map { "v\($0)" }
    let list = columns.joined(separator: ", ")
    let terms =
      starts.map { start($0, keyCount: widest, valueCount: values) }
      + edges.flatMap { first in
        edges.filter { reference(at: $0).parent.name == reference(at: first).child.name }
          .map { step(first, after: $0, keyCount: widest, valueCount: values) }
      }
    return [
      """
      INSERT INTO cloudsync_circle(circle, place, \(list))
        WITH RECURSIVE cloudsync_reached(place, \(list)) AS (
          \(terms.joined(separator: "\n    UNION\n    "))
        )
        SELECT \(number), place, \(list) FROM cloudsync_reached;
      """
    ] + edges.map(act) + ["DELETE FROM cloudsync_circle WHERE circle = \(number);"]
  }

  /// The rows that refer to the trigger's own row.
  private func start(_ edge: Int, keyCount widest: Int, valueCount values: Int) -> String {
    let one = reference(at: edge)
    let isChanged = event == .update ? "NOT (\(one.isSameKey(old: "old", new: "new"))) AND " : ""
    let new = one.values(of: graph.action(of: one, on: event), new: "new") ?? []
    return select(edge, new: new, keyCount: widest, valueCount: values)
      + " FROM \(one.child.name.quotedName) c"
      + " WHERE \(isChanged)\(one.match(parent: "old", child: "c"))"
  }

  /// The rows that refer to rows that were reached by an edge.
  private func step(
    _ edge: Int,
    after next: Int,
    keyCount widest: Int,
    valueCount values: Int
  ) -> String {
    let (one, other) = (reference(at: edge), reference(at: next))
    let isRow = one.child.primaryKey.enumerated().map { "p.\($1.quotedName) IS r.k\($0)" }
    // What the row's key is going to be: what the edge sets, and the rest as it is.
    let key = other.key.referencedColumns.map { column in
      one.key.columns.firstIndex(of: column).map { "r.v\($0)" } ?? "p.\(column.quotedName)"
    }
    var conditions = isRow
    var new: [String] = []
    if event == .update {
      let same = zip(other.key.referencedColumns, key).map { "p.\($0.quotedName) IS \($1)" }
      conditions.append("NOT (\(same.joined(separator: " AND ")))")
      let action = graph.action(of: other, on: .update)
      new = action == .cascade ? key : other.values(of: action, new: "new") ?? []
    }
    return select(next, new: new, keyCount: widest, valueCount: values)
      + " FROM cloudsync_reached r JOIN \(one.child.name.quotedName) p ON r.place = \(edge)"
      + " AND \(conditions.joined(separator: " AND "))"
      + " JOIN \(other.child.name.quotedName) c ON \(other.match(parent: "p", child: "c"))"
  }

  private func select(
    _ edge: Int,
    new: [String],
    keyCount widest: Int,
    valueCount values: Int
  ) -> String {
    let key = reference(at: edge).child.primaryKey.map { "c.\($0.quotedName)" }
    let columns =
      ["\(edge)"] + key + Array(repeating: "NULL", count: widest - key.count)
      + new.prefix(values) + Array(repeating: "NULL", count: max(0, values - new.count))
    return "SELECT " + columns.joined(separator: ", ")
  }

  /// Deletes or changes what an edge has reached.
  private func act(_ edge: Int) -> String {
    let one = reference(at: edge)
    let key = one.child.primaryKey
    let names = key.map(\.quotedName).joined(separator: ", ")
    let noted = key.indices.map { "k\($0)" }.joined(separator: ", ")
    let ofEdge = "FROM cloudsync_circle WHERE circle = \(number) AND place = \(edge)"
    let isNoted = "(\(names)) IN (SELECT \(noted) \(ofEdge))"
    let child = one.child.name.quotedName
    guard event == .update else { return "DELETE FROM \(child) WHERE \(isNoted);" }
    let isRow = key.enumerated().map { "k\($0) IS \(child).\($1.quotedName)" }
      .joined(separator: " AND ")
    let sets = one.key.columns.enumerated()
      .map { place, column in
        "\(column.quotedName) = (SELECT v\(place) \(ofEdge) AND \(isRow) LIMIT 1)"
      }
    return "UPDATE \(child) SET \(sets.joined(separator: ", ")) WHERE \(isNoted);"
  }
}

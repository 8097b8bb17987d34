import CloudSyncChangesets

/// Draws the lines between commits, as `git log --graph` does: children above their parents.
struct HistoryGraphDrawing {
  /// The commit that each column leads down to.
  private var columns: [ChangesetID] = []

  /// The rows of a commit: the first has its mark, others lead to the columns of the next.
  mutating func rows(_ id: ChangesetID, parents: [ChangesetID]) -> [String] {
    let place: Int
    if let known = columns.firstIndex(of: id) {
      place = known
    } else {
      place = columns.count
      columns.append(id)
    }
    var rows = [Self.text(marks: columns.indices.map { (2 * $0, $0 == place ? "*" : "|") })]
    guard let first = parents.first else {
      rows += close(place: place)
      return rows
    }
    columns[place] = first
    if parents.count > 1 {
      rows.append(
        Self.text(
          marks: columns.indices.map { (2 * $0 + ($0 > place ? 1 : 0), $0 > place ? "\\" : "|") }
            + [(2 * place + 1, "\\")]
        )
      )
      columns.insert(parents[1], at: place + 1)
    }
    while let row = joinDuplicate() { rows.append(row) }
    return rows
  }

  /// Ends a column; those to the right move.
  private mutating func close(place: Int) -> [String] {
    let right = columns.index(after: place)..<columns.endIndex
    defer { columns.remove(at: place) }
    if right.isEmpty { return [] }
    return [
      Self.text(
        marks: columns.indices.filter { $0 != place }
          .map { ($0 > place ? 2 * $0 - 1 : 2 * $0, $0 > place ? "/" : "|") }
      )
    ]
  }

  /// Joins a column to one further left that leads to the same commit.
  private mutating func joinDuplicate() -> String? {
    for (place, id) in columns.enumerated() {
      guard let target = columns[..<place].firstIndex(of: id) else { continue }
      var marks = columns.indices.filter { $0 != place }
        .map { ($0 > place ? 2 * $0 - 1 : 2 * $0, $0 > place ? "/" : "|") }
      marks += (target..<place - 1).map { (2 * $0 + 1, "_") }
      marks.append((2 * place - 1, "/"))
      columns.remove(at: place)
      return Self.text(marks: marks)
    }
    return nil
  }

  /// A row with marks at places.
  private static func text(marks: [(place: Int, mark: String)]) -> String {
    var row: [Character] = []
    for (place, mark) in marks {
      while row.count <= place { row.append(" ") }
      row[place] = Character(mark)
    }
    return String(row)
  }
}

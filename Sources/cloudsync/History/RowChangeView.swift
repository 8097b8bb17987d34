import CloudSyncChangesets

/// Shows changed rows: what a column held beside what it holds.
struct RowChangeView {
  let console: Console

  func show(changes: [RowChange]) {
    if changes.isEmpty { return console.line("no differences") }
    for change in changes {
      let (mark, style): (String, Console.Style) =
        switch change.kind {
        case .insert: ("+", .good)
        case .update: ("~", .warning)
        case .delete: ("-", .bad)
        }
      let title = "\(mark) \(change.table) \(HistoryWords.key(change.key))"
      console.line(console.styled(title, as: style))
      let width = change.cells.reduce(0) { max($0, $1.column.count) }
      let oldWidth = change.cells.reduce(0) { max($0, HistoryWords.value($1.old).count) }
      for cell in change.cells {
        let (old, new) = (HistoryWords.value(cell.old), HistoryWords.value(cell.new))
        let name = Self.padded(text: cell.column, to: width)
        switch change.kind {
        case .insert: console.line("    \(name)  \(console.styled(new, as: .good))")
        case .delete: console.line("    \(name)  \(console.styled(old, as: .bad))")
        case .update:
          let left = console.styled(Self.padded(text: old, to: oldWidth), as: .bad)
          console.line("    \(name)  \(left) → \(console.styled(new, as: .good))")
        }
      }
    }
  }

  /// Rows in columns, all to the left.
  static func columns(_ rows: [[String]]) -> [String] {
    guard let first = rows.first else { return [] }
    let widths = first.indices.map { place in rows.reduce(0) { max($0, $1[place].count) } }
    return rows.map { row in
      row.enumerated()
        .map { place, cell in place == row.count - 1 ? cell : padded(text: cell, to: widths[place])
        }
        .joined(separator: "  ")
    }
  }

  private static func padded(text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

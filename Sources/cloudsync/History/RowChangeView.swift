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

extension RowChangeView {
  /// Shows what a merge has kept of a row, and what not.
  ///
  /// - Parameters:
  ///   - conflict: The conflict.
  ///   - number: The number that it is resolved by; nil where its merge is shown anyway.
  func show(conflict: ChangesetConflict, number: Int? = nil) {
    let what = conflict.isSetAside ? "set aside" : conflict.kind.rawValue
    let mark = number.map { "\($0)" } ?? "!"
    let merge = number == nil ? nil : conflict.merge.map { console.styled($0.short, as: .name) }
    console.line(
      "\(mark)  \(conflict.table) \(HistoryWords.key(conflict.key))  \(what)"
        + (merge.map { "  \($0)" } ?? "")
    )
    if conflict.kind == .deletion {
      console.line(
        conflict.hasDroppedDeletion
          ? "     one side deleted the row, the other one changed it: it was kept"
          : "     one side changed the row, the other one deleted it: it was deleted"
      )
    }
    for column in conflict.columns {
      let kept = conflict.kept.first { $0.column == column }
      let lost = conflict.lost.first { $0.column == column }
      let parts = [
        kept.map { "kept \(HistoryWords.value($0.value))" },
        lost.map { "lost \(console.styled(HistoryWords.value($0.value), as: .bad))" },
      ]
      console.line("     \(column)  \(parts.compactMap { $0 }.joined(separator: ", "))")
    }
  }
}

/// What a merge has kept of a row, and what not, for scripts.
struct ConflictReport: Encodable {
  /// The number that it is resolved by; nil where its merge is shown anyway.
  var number: Int?
  var merge: String?
  var table: String
  var key: [String]
  var kind: String
  var isSetAside: Bool
  var kept: [String: String]
  var lost: [String: String]

  init(_ conflict: ChangesetConflict, number: Int? = nil) {
    self.number = number
    merge = conflict.merge?.description
    table = conflict.table
    key = conflict.key.map(\.sqlText)
    kind = conflict.kind.rawValue
    isSetAside = conflict.isSetAside
    kept = Self.values(cells: conflict.kept)
    lost = Self.values(cells: conflict.lost)
  }

  private static func values(cells: [ChangesetConflict.Cell]) -> [String: String] {
    Dictionary(
      cells.map { ($0.column, $0.value.sqlText) },
      uniquingKeysWith: { first, _ in first }
    )
  }
}

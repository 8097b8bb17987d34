/// What several places have, side by side.
struct DemoBoard: Equatable {
  /// What one place has.
  struct Column: Equatable {
    var name: String
    var rows: DemoRows
    /// A line about its state.
    var foot: String
  }

  var columns: [Column]

  private static let nameWidth = 9

  /// Whether all have the same.
  var isEqual: Bool { columns.allSatisfy { $0.rows == columns[0].rows } }

  /// What is to be said about the places.
  func feet(console: Console) -> [String] {
    columns.filter { !$0.foot.isEmpty }
      .map { column in
        let line = String("\(column.name): \(column.foot)".prefix(console.width))
        return console.styled(line, as: .faint)
      }
  }

  /// The lines of a table.
  func lines(console: Console) -> [String] {
    let all = columns.map(\.rows.texts)
    let names = Set(all.flatMap(\.keys)).sorted()
    // A table of 80 columns fits everywhere, also where it is passed on.
    let room = min(80, console.width) - Self.nameWidth
    let width = max(8, room / columns.count - 1)
    var lines = [console.styled(row(of: [""] + columns.map(\.name), width: width), as: .heading)]
    for name in names {
      let texts = all.map { $0[name] }
      let isEqual = texts.allSatisfy { $0 == texts[0] }
      lines.append(
        console.styled(
          row(of: [name] + texts.map { $0 ?? "–" }, width: width),
          as: isEqual ? .plain : .warning
        )
      )
    }
    return lines
  }

  private func row(of cells: [String], width: Int) -> String {
    let widths = [Self.nameWidth] + columns.map { _ in width }
    let text = zip(cells, widths).map { cell, width in Self.fit(cell, to: width) }
      .joined(separator: " ")
    return String(text.reversed().drop { $0 == " " }.reversed())
  }

  private static func fit(_ text: String, to width: Int) -> String {
    if text.count > width { return text.prefix(width - 1) + "…" }
    return text + String(repeating: " ", count: width - text.count)
  }
}

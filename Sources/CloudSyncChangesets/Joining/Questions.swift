import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Asks people, then the app's handler, about contested rows.
struct Questions {
  let work: HistoryWork
  let graph: HistoryGraph

  var handler: RowHandler? {
    guard let handler = work.options.handler else { return nil }
    let box = QuestionBox(questions: self)
    return { (row) throws(ChangesetError) in
      if let answer = try box.questions.answers.answer(row: row) { return answer }
      return RowAnswer(handler(try box.questions.conflict(row: row)))
    }
  }

  private var answers: Answers { Answers(connection: work.connection) }

  func conflict(row: ContestedRow) throws(ChangesetError) -> RowConflict {
    let values = { (cells: [CellValue]?) -> [String: FieldValue]? in
      cells.map { cells in
        Dictionary(
          cells.map { ($0.column, FieldValue($0.value)) },
          uniquingKeysWith: { first, _ in first }
        )
      }
    }
    return RowConflict(
      table: row.table,
      key: row.key.values.map { FieldValue($0) },
      columns: row.columns,
      base: values(row.base),
      ours: values(row.ours),
      theirs: values(row.theirs),
      oursCommit: try changeset(id: row.oursID),
      theirsCommit: try changeset(id: row.theirsID)
    )
  }

  private func changeset(id: ChangesetID) throws(ChangesetError) -> Changeset {
    try work.changeset(row: try work.log.row(try graph.number(id: id)))
  }
}

/// Lets a closure that is called in place have what stays on this thread.
// It is unchecked because it never leaves the thread of the merge that calls it.
private struct QuestionBox: @unchecked Sendable {
  let questions: Questions
}

extension RowAnswer {
  init(_ resolution: Resolution) {
    self =
      switch resolution {
      case .automatic: .automatic
      case .delete: .delete
      case .later: .later
      case .row(let values):
        .values(
          values.keys.sorted { $0.precedesByBytes($1) }
            .compactMap { name in
              values[name]?.column.map { CellValue(name, $0) }
            }
        )
      }
  }
}

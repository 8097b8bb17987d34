import CloudSyncSQLiteSupport

/// What people have said of contested rows of which a handler did not know.
struct Answers {
  let connection: HistoryConnection

  func answer(row: ContestedRow) throws(ChangesetError) -> RowAnswer? {
    let bytes = try connection.row(
      """
      SELECT answer FROM changesets_answers
      WHERE ours = ?1 AND theirs = ?2 AND name = ?3 AND key = ?4
      """,
      .blob(row.oursID.bytes),
      .blob(row.theirsID.bytes),
      .text(row.table),
      .blob(row.key.bytes)
    ) { $0.bytes(0) }
    guard let bytes else { return nil }
    return try reading("an answer") { () throws(ByteFault) in try RowAnswer(bytes: bytes) }
  }

  func set(_ answer: RowAnswer, for row: ContestedRow) throws(ChangesetError) {
    try connection.run(
      "REPLACE INTO changesets_answers VALUES(?1, ?2, ?3, ?4, ?5)",
      .blob(row.oursID.bytes),
      .blob(row.theirsID.bytes),
      .text(row.table),
      .blob(row.key.bytes),
      .blob(answer.bytes)
    )
  }

  /// Forgets the answers about two commits, which are merged.
  func forget(ours: ChangesetID, _ theirs: ChangesetID) throws(ChangesetError) {
    try connection.run(
      "DELETE FROM changesets_answers WHERE ours = ?1 AND theirs = ?2",
      .blob(ours.bytes),
      .blob(theirs.bytes)
    )
  }
}

extension RowAnswer {
  fileprivate var bytes: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .automatic: writer.write(byte: 0)
    case .values(let cells):
      writer.write(byte: 1)
      writer.write(count: cells.count)
      for cell in cells {
        writer.write(cell.column)
        writer.write(cell.value)
      }
    case .delete: writer.write(byte: 2)
    case .later: writer.write(byte: 3)
    }
    return writer.bytes
  }

  fileprivate init(bytes: [UInt8]) throws(ByteFault) {
    var reader = ByteReader(bytes)
    switch try reader.byte() {
    case 0: self = .automatic
    case 1:
      var cells: [CellValue] = []
      for _ in 0..<(try reader.count(ofAtLeast: 2)) {
        let column = try reader.text()
        cells.append(CellValue(column, try reader.value()))
      }
      self = .values(cells)
    case 2: self = .delete
    case 3: self = .later
    default: throw ByteFault("an answer is of no known kind")
    }
  }
}

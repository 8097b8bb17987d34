import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Reads the canonical bytes of commits; whatever the writer would not have written is a fault.
enum CommitReader {
  /// The latest time that a commit may have: clocks of the year 2200 are wrong.
  static let limit = HybridTime.next(after: .zero, now: 7_258_118_400_000)

  /// The most that strings of names may have.
  static let longestName = 255
  static let longestMeta = 65_536

  /// A commit from all of its bytes.
  static func commit(_ bytes: some Collection<UInt8>) throws(ByteFault) -> Commit {
    var reader = ByteReader(bytes)
    var header = try head(&reader)
    let commit = try body(&reader, header: &header)
    guard reader.isAtEnd else { throw ByteFault("something follows its end") }
    // One content has one form: what is written otherwise is none of ours.
    guard commit.canonicalBytes.elementsEqual(bytes) else {
      throw ByteFault("it is not in its canonical form")
    }
    return commit
  }

  static func head(_ reader: inout ByteReader) throws(ByteFault) -> CommitHeader {
    guard try reader.raw(CommitWriter.magic.count).elementsEqual(CommitWriter.magic) else {
      throw ByteFault("it is no commit of a known format")
    }
    guard let kind = CommitHeader.Kind(rawValue: try reader.byte()) else {
      throw ByteFault("it is of no known kind")
    }
    let schema = SchemaID(try digest(reader: &reader))
    let parentCount = Int(try reader.byte())
    guard parentCount <= 2, (kind == .merge) == (parentCount == 2) else {
      throw ByteFault("it has \(parentCount) parents")
    }
    var parents: [ChangesetID] = []
    for _ in 0..<parentCount { parents.append(ChangesetID(try digest(reader: &reader))) }
    let generation = try reader.number()
    guard generation > 0, generation < 1 << 62, parentCount > 0 || generation == 1 else {
      throw ByteFault("its generation is none")
    }
    let time = HybridTime(rawValue: try reader.signed())
    guard time >= .zero, time < limit else { throw ByteFault("its time is out of range") }
    let branch = try name(reader: &reader)
    let hash = StateHash(high: try reader.bigEndian(), low: try reader.bigEndian())
    return CommitHeader(
      kind: kind,
      schema: schema,
      parents: parents,
      generation: Int64(generation),
      time: time,
      branch: branch,
      stateHash: hash
    )
  }

  /// What stands at the beginning of the body and belongs to the header.
  static func preamble(
    reader: inout ByteReader,
    header: inout CommitHeader
  ) throws(ByteFault) {
    if header.kind == .edit { header.replica = try name(reader: &reader) }
    switch try reader.byte() {
    case 0: break
    case 1: header.reverts = ChangesetID(try digest(reader: &reader))
    case 2:
      guard header.kind == .edit else { throw ByteFault("it cannot stand for others") }
      header.originals = try originals(reader: &reader)
    default: throw ByteFault("what it takes back is none")
    }
    header.meta = try reader.text()
    guard header.meta.utf8.count <= longestMeta else { throw ByteFault("its meta is too long") }
  }

  private static func originals(reader: inout ByteReader) throws(ByteFault) -> [ChangesetID] {
    var originals: [ChangesetID] = []
    for _ in 0..<(try reader.count(ofAtLeast: 32)) {
      let original = ChangesetID(try digest(reader: &reader))
      if let last = originals.last, last >= original {
        throw ByteFault("what it stands for is not in order")
      }
      originals.append(original)
    }
    guard !originals.isEmpty else { throw ByteFault("it stands for nothing") }
    return originals
  }

  /// What stands behind the head.
  static func body(
    _ reader: inout ByteReader,
    header: inout CommitHeader
  ) throws(ByteFault) -> Commit {
    try preamble(reader: &reader, header: &header)
    var tables: [TableDelta] = []
    for _ in 0..<(try reader.count(ofAtLeast: 4)) {
      let table = try table(reader: &reader, header: header)
      if let last = tables.last, !last.name.precedesByBytes(table.name) {
        throw ByteFault("its tables are not in order")
      }
      tables.append(table)
    }
    var conflicts: [MergeConflict] = []
    if header.kind == .merge || !reader.isAtEnd {
      for _ in 0..<(try reader.count(ofAtLeast: 5)) {
        conflicts.append(try conflict(reader: &reader))
      }
      if conflicts.isEmpty, header.kind != .merge { throw ByteFault("its conflicts are none") }
    }
    return Commit(header: header, changes: StateDelta(tables: tables), conflicts: conflicts)
  }

  private static func digest(reader: inout ByteReader) throws(ByteFault) -> Digest {
    guard let digest = Digest(try reader.raw(32)) else { throw ByteFault("a digest is cut short") }
    return digest
  }

  private static func name(reader: inout ByteReader) throws(ByteFault) -> String {
    let name = try reader.text()
    guard name.isValidName(upTo: longestName) else { throw ByteFault("a name is none") }
    return name
  }

  // MARK: Rows

  private static func table(
    reader: inout ByteReader,
    header: CommitHeader
  ) throws(ByteFault) -> TableDelta {
    let name = try reader.text()
    var columns: [String] = []
    for _ in 0..<(try reader.count()) {
      let column = try reader.text()
      if let last = columns.last, !last.precedesByBytes(column) {
        throw ByteFault("columns are not in order")
      }
      columns.append(column)
    }
    guard columns.count <= 2_000 else { throw ByteFault("there are too many columns") }
    var fills: [TableDelta.Fill] = []
    for _ in 0..<(try reader.count(ofAtLeast: 2)) {
      let column = try element(of: columns, &reader)
      fills.append(TableDelta.Fill(column: column, value: try reader.value()))
    }
    var rows: [RowDelta] = []
    let rowCount = try reader.count(ofAtLeast: 3)
    rows.reserveCapacity(rowCount)
    for _ in 0..<rowCount {
      let row = try row(reader: &reader, columns: columns, header: header)
      if let last = rows.last, last.key >= row.key { throw ByteFault("rows are not in order") }
      rows.append(row)
    }
    return TableDelta(name, fills: fills, rows: rows)
  }

  private static func element(
    of columns: [String],
    _ reader: inout ByteReader
  ) throws(ByteFault) -> String {
    let place = try reader.number()
    guard place < UInt64(columns.count) else { throw ByteFault("a column has no name") }
    return columns[Int(place)]
  }

  private static func row(
    reader: inout ByteReader,
    columns: [String],
    header: CommitHeader
  ) throws(ByteFault) -> RowDelta {
    guard let kind = RowDelta.Kind(rawValue: try reader.byte()) else {
      throw ByteFault("a change is of no known kind")
    }
    let key = try key(reader: &reader)
    let keepsTimes = header.keepsTimes
    var time = header.time
    if keepsTimes, kind != .update { time = try self.time(reader: &reader, header: header) }
    var cells: [CellDelta] = []
    let cellCount = try reader.count(ofAtLeast: 2)
    cells.reserveCapacity(cellCount)
    for _ in 0..<cellCount {
      let column = try element(of: columns, &reader)
      if let last = cells.last, !last.column.precedesByBytes(column) {
        throw ByteFault("cells are not in order")
      }
      let old = kind == .insert ? .null : try reader.value()
      let new = kind == .delete ? .null : try reader.value()
      let written = keepsTimes ? try self.time(reader: &reader, header: header) : header.time
      // A NULL of a row that is inserted has a cell only to tell that it is not as old as the row, a value that a merge
      // leaves to tell that it is newer.
      guard old != new || kind == .insert && written != time || kind == .update && keepsTimes else {
        throw ByteFault("a cell has not changed")
      }
      cells.append(CellDelta(column, old: old, new: new, time: written))
    }
    if kind == .update {
      guard let row = RowDelta(updating: key, cells: cells) else {
        throw ByteFault("a row has not changed")
      }
      return row
    }
    return RowDelta(kind, key, cells: cells, time: time)
  }

  private static func key(reader: inout ByteReader) throws(ByteFault) -> RowKey {
    let bytes = Array(try reader.counted())
    var values = ByteReader(bytes)
    repeat { _ = try values.value() } while !values.isAtEnd
    return RowKey(codedBytes: bytes)
  }

  private static func time(
    reader: inout ByteReader,
    header: CommitHeader
  ) throws(ByteFault) -> HybridTime {
    let time = header.time.later(by: try reader.signed())
    guard time >= .zero, time < limit else { throw ByteFault("a time is out of range") }
    return time
  }

  // MARK: Conflicts

  private static func conflict(reader: inout ByteReader) throws(ByteFault) -> MergeConflict {
    let table = try reader.text()
    let key = try key(reader: &reader)
    guard let kind = MergeConflict.Kind(rawValue: try reader.byte()) else {
      throw ByteFault("a conflict is of no known kind")
    }
    let mark = try reader.byte()
    guard mark <= 1 else { throw ByteFault("a conflict is of no known kind") }
    let kept = try conflictCells(reader: &reader)
    let lost = try conflictCells(reader: &reader)
    return MergeConflict(
      kind,
      table: table,
      key: key,
      isSetAside: mark == 1,
      kept: kept,
      lost: lost
    )
  }

  private static func conflictCells(
    reader: inout ByteReader
  ) throws(ByteFault) -> [MergeConflict.Cell] {
    var cells: [MergeConflict.Cell] = []
    for _ in 0..<(try reader.count(ofAtLeast: 3)) {
      let column = try reader.text()
      let value = try reader.value()
      cells.append(.init(column, value, time: HybridTime(rawValue: try reader.signed())))
    }
    return cells
  }
}

extension String {
  /// Whether a branch, tag or replica can be called so: not empty, not too long, without control characters.
  func isValidName(upTo limit: Int) -> Bool {
    !isEmpty && utf8.count <= limit
      && unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) }
  }
}

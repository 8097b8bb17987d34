import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The canonical bytes of commits: of one commit there is one form, whose SHA-256 is its identifier.
///
/// A head, which the log keeps in columns, stands before a body, which the log keeps as it is.
enum CommitWriter {
  /// The first bytes of every commit, with the number of the format.
  static let magic: [UInt8] = Array("cloudsync-commit".utf8) + [1]

  static func head(of header: CommitHeader) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(raw: magic)
    writer.write(byte: header.kind.rawValue)
    writer.write(raw: header.schema.digest.bytes)
    writer.write(byte: UInt8(header.parents.count))
    for parent in header.parents { writer.write(raw: parent.bytes) }
    writer.write(UInt64(header.generation))
    writer.write(signed: header.time.rawValue)
    writer.write(header.branch)
    writer.writeBigEndian(word: header.stateHash.high)
    writer.writeBigEndian(word: header.stateHash.low)
    return writer.bytes
  }

  static func body(of commit: Commit) -> [UInt8] {
    var writer = ByteWriter()
    let header = commit.header
    if header.kind == .edit { writer.write(header.replica) }
    if !header.originals.isEmpty {
      writer.write(byte: 2)
      writer.write(count: header.originals.count)
      for original in header.originals { writer.write(raw: original.bytes) }
    } else {
      writer.write(byte: header.reverts == nil ? 0 : 1)
      if let reverts = header.reverts { writer.write(raw: reverts.bytes) }
    }
    writer.write(header.meta)
    writer.write(count: commit.changes.tables.count)
    // Only what puts others' commits together keeps their times: those of an edit are its own.
    let time = header.keepsTimes ? nil : header.time
    for table in commit.changes.tables { write(table, time: time, merge: header.time, to: &writer) }
    // An edit has a list only if it has decided something: what took a commit back, or was put on others' commits.
    if header.kind == .merge || !commit.conflicts.isEmpty {
      write(commit.conflicts, to: &writer)
    }
    return writer.bytes
  }

  private static func write(
    _ table: TableDelta,
    time: HybridTime?,
    merge mergeTime: HybridTime,
    to writer: inout ByteWriter
  ) {
    writer.write(table.name)
    var columns: [String] = []
    var places: [String: Int] = [:]
    let used = table.rows.flatMap { $0.cells.map(\.column) } + table.fills.map(\.column)
    for name in Set(used).sortedByBytes() {
      places[name] = columns.count
      columns.append(name)
    }
    writer.write(count: columns.count)
    for name in columns { writer.write(name) }
    writer.write(count: table.fills.count)
    for fill in table.fills {
      writer.write(count: places[fill.column] ?? 0)
      writer.write(fill.value)
    }
    writer.write(count: table.rows.count)
    for row in table.rows {
      writer.write(byte: row.kind.rawValue)
      writer.write(counted: row.key.bytes)
      if time == nil, row.kind != .update { writer.write(signed: row.time.since(other: mergeTime)) }
      writer.write(count: row.cells.count)
      for cell in row.cells {
        writer.write(count: places[cell.column] ?? 0)
        if row.kind != .insert { writer.write(cell.old) }
        if row.kind != .delete { writer.write(cell.new) }
        if time == nil { writer.write(signed: cell.time.since(other: mergeTime)) }
      }
    }
  }

  private static func write(_ conflicts: [MergeConflict], to writer: inout ByteWriter) {
    writer.write(count: conflicts.count)
    for conflict in conflicts {
      writer.write(conflict.table)
      writer.write(counted: conflict.key.bytes)
      writer.write(raw: conflict.codedBytes)
    }
  }
}

extension HybridTime {
  /// How much later it is than another time; wraps around, so that every time has a number.
  func since(other: HybridTime) -> Int64 { rawValue &- other.rawValue }

  /// The time that is so much later.
  func later(by difference: Int64) -> HybridTime { HybridTime(rawValue: rawValue &+ difference) }
}

extension Commit {
  /// All of its canonical bytes.
  var canonicalBytes: [UInt8] { CommitWriter.head(of: header) + CommitWriter.body(of: self) }

  var id: ChangesetID {
    ChangesetID(digestOf: CommitWriter.head(of: header), CommitWriter.body(of: self))
  }
}

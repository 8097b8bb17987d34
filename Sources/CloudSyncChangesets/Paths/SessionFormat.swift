import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Changes as SQLite's session extension writes them.
struct SessionFormat {
  let tables: TrackedTables

  private enum Operation {
    static let delete: UInt8 = 9
    static let insert: UInt8 = 18
    static let update: UInt8 = 23
  }

  func bytes(of delta: StateDelta) throws(ChangesetError) -> [UInt8] {
    var writer = ByteWriter()
    for change in delta.withoutNewerValues.tables where !change.rows.isEmpty {
      guard let table = tables.table(change.name)?.schema else {
        throw ChangesetError(
          .needsUpgrade,
          "the history has a table \(change.name.quotedName), which this database lacks; update the app"
        )
      }
      write(change, of: table, to: &writer)
    }
    return writer.bytes
  }

  private func write(_ change: TableDelta, of table: TableSchema, to writer: inout ByteWriter) {
    let columns = table.writableColumns.map(\.name)
    writer.write(byte: UInt8(ascii: "T"))
    writer.write(bigEndianVariable: UInt64(columns.count))
    for column in columns {
      let place = table.primaryKey.firstIndex { $0.isSameName(as: column) }
      writer.write(byte: place.map { UInt8(truncatingIfNeeded: $0 + 1) } ?? 0)
    }
    writer.write(raw: Array(table.name.utf8) + [0])
    for row in change.rows { write(row, columns: columns, key: table.primaryKey, to: &writer) }
  }

  private func write(
    _ row: RowDelta,
    columns: [String],
    key: [String],
    to writer: inout ByteWriter
  ) {
    let keyValues = row.key.values
    let operation: UInt8 =
      switch row.kind {
      case .insert: Operation.insert
      case .update: Operation.update
      case .delete: Operation.delete
      }
    writer.write(byte: operation)
    writer.write(byte: 0)
    let records: [Bool] = row.kind == .update ? [true, false] : [row.kind == .delete]
    for isOld in records {
      for column in columns {
        if let place = key.firstIndex(where: { $0.isSameName(as: column) }) {
          // The new record of an update leaves the key out, for it is the same.
          writer.write(session: row.kind == .update && !isOld ? nil : keyValues[place])
        } else if let cell = row.cell(column) {
          writer.write(session: isOld ? cell.old : cell.new)
        } else {
          writer.write(session: row.kind == .update ? nil : .null)
        }
      }
    }
  }
}

extension ByteWriter {
  /// A value with the session extension's kinds; nil is one that is left out.
  fileprivate mutating func write(session value: SQLiteValue?) {
    switch value {
    case nil: write(byte: 0)
    case .integer(let number):
      write(byte: 1)
      writeBigEndian(word: UInt64(bitPattern: number))
    case .real(let number):
      write(byte: 2)
      writeBigEndian(word: number.bitPattern)
    case .text(let text): write(session: Array(text.utf8), kind: 3)
    case .malformedText(let bytes): write(session: bytes, kind: 3)
    case .blob(let bytes): write(session: bytes, kind: 4)
    case .null: write(byte: 5)
    }
  }

  private mutating func write(session bytes: [UInt8], kind: UInt8) {
    write(byte: kind)
    write(bigEndianVariable: UInt64(bytes.count))
    write(raw: bytes)
  }

  /// A number as SQLite's files have it, of up to 56 bits.
  fileprivate mutating func write(bigEndianVariable number: UInt64) {
    var groups: [UInt8] = [UInt8(number & 0x7f)]
    var rest = number >> 7
    while rest > 0 {
      groups.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    write(raw: groups.reversed())
  }
}

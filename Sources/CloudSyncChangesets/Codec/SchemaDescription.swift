package import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What a history says of the tables that it is about; the digest of its canonical bytes names the schema.
///
/// Triggers, CHECKs and the names of indexes do not count. Nor does the order of columns, which is told all the
/// same, as are the declarations of the whole database: whoever makes the tables from it makes them as they were
/// declared.
package struct SchemaDescription: Sendable, Hashable {
  package struct Column: Sendable, Hashable {
    package var name: String
    package var type: String
    package var isNotNull: Bool
    package var isGenerated: Bool
    /// As SQL; nil if there is none.
    package var defaultSQL: String?
    /// Its place in the primary key, counted from 1; 0 if it is in none.
    package var keyPlace: Int

    package var affinity: TableSchema.Column.Affinity { .init(type: type) }
  }

  package struct UniqueKey: Sendable, Hashable {
    /// Nil in place of an expression.
    package var columns: [String?]
    package var collations: [String]
    package var isPartial: Bool
  }

  package struct Table: Sendable, Hashable {
    package var name: String
    package var isWithoutRowID: Bool
    package var isStrict: Bool
    package var hasIntegerKey: Bool
    /// In the order in which they are declared.
    package var columns: [Column]
    package var uniqueKeys: [UniqueKey]
    package var foreignKeys: [TableSchema.ForeignKey]

    /// The column of a name, byte by byte, as changes name columns; those of the key, which none names, however spelled.
    package func column(_ name: String) -> Column? {
      columns.first {
        $0.name.hasSameBytes(as: name) || $0.keyPlace > 0 && $0.name.isSameName(as: name)
      }
    }
  }

  /// By the bytes of their names.
  package var tables: [Table]
  /// The statements that made the database, in their order; empty where nobody has told them.
  package var declarations: [String]

  package init(tables: [TableSchema], declarations: [String] = []) {
    self.declarations = declarations
    self.tables = tables.map { Table($0) }.sorted { $0.name.precedesByBytes($1.name) }
  }

  /// The table of a name, byte by byte.
  package func table(_ name: String) -> Table? { tables.first { $0.name.hasSameBytes(as: name) } }

  /// Whether it has every table and column of another schema, with the same keys.
  package func covers(_ other: SchemaDescription) -> Bool {
    other.tables.allSatisfy { theirs in
      guard let mine = table(theirs.name) else { return false }
      return theirs.columns.allSatisfy { column in
        if column.isGenerated { return true }
        guard let known = mine.column(column.name), known.keyPlace == column.keyPlace else {
          return false
        }
        // A key of another type would be another key.
        return column.keyPlace == 0 || known.affinity.storesKeys(as: column.affinity)
      }
    }
  }
}

extension SchemaDescription {
  /// Whether two differ in types and defaults of columns alone.
  func isLike(_ other: SchemaDescription) -> Bool {
    guard tables.count == other.tables.count, covers(other), other.covers(self) else {
      return false
    }
    return zip(tables, other.tables)
      .allSatisfy { one, other in
        one.uniqueKeys == other.uniqueKeys && one.foreignKeys == other.foreignKeys
          && one.isStrict == other.isStrict
      }
  }
}

extension SchemaDescription.Table {
  init(_ schema: TableSchema) {
    name = schema.name
    isWithoutRowID = schema.isWithoutRowID
    isStrict = schema.isStrict
    hasIntegerKey = schema.hasIntegerKey
    columns = schema.columns
      .map { column in
        SchemaDescription.Column(
          name: column.name,
          type: column.type,
          isNotNull: column.isNotNull,
          isGenerated: column.isGenerated,
          defaultSQL: column.defaultSQL,
          keyPlace: (schema.primaryKey.firstIndex { $0.isSameName(as: column.name) } ?? -1) + 1
        )
      }
    uniqueKeys = schema.uniqueKeys
      .map { .init(columns: $0.columns, collations: $0.collations, isPartial: $0.isPartial) }
      .sorted { $0.codedBytes.lexicographicallyPrecedes($1.codedBytes) }
    foreignKeys = schema.foreignKeys
      .sorted { $0.codedBytes.lexicographicallyPrecedes($1.codedBytes) }
  }
}

// MARK: Bytes

extension SchemaDescription {
  /// Whatever the order of the columns, and whatever else the declarations say.
  package var id: SchemaID { SchemaID(Digest(of: [Self.magic, ordered.bytes])) }

  /// The same with the columns by the bytes of their names.
  private var ordered: SchemaDescription {
    var description = self
    description.declarations = []
    for place in description.tables.indices {
      description.tables[place].columns.sort { $0.name.precedesByBytes($1.name) }
    }
    return description
  }

  private static let magic = Array("cloudsync-schema".utf8) + [1]

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(count: tables.count)
    for table in tables {
      writer.write(table.name)
      writer.write(flags: [table.isWithoutRowID, table.isStrict, table.hasIntegerKey])
      writer.write(count: table.columns.count)
      for column in table.columns {
        writer.write(column.name)
        writer.write(column.type)
        writer.write(
          flags: [column.isNotNull, column.isGenerated, column.defaultSQL != nil]
        )
        if let sql = column.defaultSQL { writer.write(sql) }
        writer.write(count: column.keyPlace)
      }
      writer.write(count: table.uniqueKeys.count)
      for key in table.uniqueKeys { writer.write(raw: key.codedBytes) }
      writer.write(count: table.foreignKeys.count)
      for key in table.foreignKeys { writer.write(raw: key.codedBytes) }
    }
    if !declarations.isEmpty {
      writer.write(count: declarations.count)
      for declaration in declarations { writer.write(declaration) }
    }
    return writer.bytes
  }

  package init(bytes: some Collection<UInt8>) throws(ByteFault) {
    var reader = ByteReader(bytes)
    (tables, declarations) = ([], [])
    for _ in 0..<(try reader.count(ofAtLeast: 4)) { tables.append(try Table(&reader)) }
    if !reader.isAtEnd {
      for _ in 0..<(try reader.count()) { declarations.append(try reader.text()) }
    }
    guard reader.isAtEnd, self.bytes.elementsEqual(bytes) else {
      throw ByteFault("a schema is not in its canonical form")
    }
  }
}

extension SchemaDescription.Table {
  fileprivate init(_ reader: inout ByteReader) throws(ByteFault) {
    name = try reader.text()
    let flags = try reader.flags(count: 3)
    (isWithoutRowID, isStrict, hasIntegerKey) = (flags[0], flags[1], flags[2])
    columns = []
    for _ in 0..<(try reader.count(ofAtLeast: 4)) {
      let (name, type) = (try reader.text(), try reader.text())
      let flags = try reader.flags(count: 3)
      columns.append(
        SchemaDescription.Column(
          name: name,
          type: type,
          isNotNull: flags[0],
          isGenerated: flags[1],
          defaultSQL: flags[2] ? try reader.text() : nil,
          keyPlace: Int(truncatingIfNeeded: try reader.number())
        )
      )
    }
    uniqueKeys = []
    for _ in 0..<(try reader.count(ofAtLeast: 3)) { uniqueKeys.append(try .init(&reader)) }
    foreignKeys = []
    for _ in 0..<(try reader.count(ofAtLeast: 5)) { foreignKeys.append(try .init(&reader)) }
  }
}

extension SchemaDescription.UniqueKey {
  fileprivate var codedBytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(flags: [isPartial])
    writer.write(count: columns.count)
    for (column, collation) in zip(columns, collations) {
      writer.write(flags: [column != nil])
      if let column { writer.write(column) }
      writer.write(collation)
    }
    return writer.bytes
  }

  fileprivate init(_ reader: inout ByteReader) throws(ByteFault) {
    isPartial = try reader.flags(count: 1)[0]
    (columns, collations) = ([], [])
    for _ in 0..<(try reader.count(ofAtLeast: 2)) {
      columns.append(try reader.flags(count: 1)[0] ? try reader.text() : nil)
      collations.append(try reader.text())
    }
  }
}

extension TableSchema.ForeignKey {
  fileprivate var codedBytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(table)
    for names in [columns, referencedColumns] {
      writer.write(count: names.count)
      for name in names { writer.write(name) }
    }
    writer.write(onDelete.rawValue)
    writer.write(onUpdate.rawValue)
    return writer.bytes
  }

  fileprivate init(_ reader: inout ByteReader) throws(ByteFault) {
    let table = try reader.text()
    var lists: [[String]] = []
    for _ in 0..<2 {
      var names: [String] = []
      for _ in 0..<(try reader.count()) { names.append(try reader.text()) }
      lists.append(names)
    }
    guard let onDelete = TableSchema.Action(rawValue: try reader.text()),
      let onUpdate = TableSchema.Action(rawValue: try reader.text())
    else { throw ByteFault("a foreign key has no known action") }
    self = TableSchema.ForeignKey(
      columns: lists[0],
      table: table,
      referencedColumns: lists[1],
      onDelete: onDelete,
      onUpdate: onUpdate
    )
  }
}

extension ByteWriter {
  fileprivate mutating func write(flags: [Bool]) {
    write(byte: flags.enumerated().reduce(0) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) })
  }
}

extension ByteReader {
  fileprivate mutating func flags(count: Int) throws(ByteFault) -> [Bool] {
    let byte = try byte()
    return (0..<count).map { byte & 1 << UInt8($0) != 0 }
  }
}

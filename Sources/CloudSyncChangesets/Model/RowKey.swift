import CloudSyncCore
package import CloudSyncSQLiteSupport

/// The primary key of a row within its table: its values in the key's order, told apart by kind and bytes.
package struct RowKey: Sendable, Hashable, Comparable {
  /// The values, coded one after the other.
  package let bytes: [UInt8]

  package init(_ values: [SQLiteValue]) {
    var writer = ByteWriter()
    for value in values { writer.write(value) }
    bytes = writer.bytes
  }

  /// Takes bytes that are known to be coded values.
  package init(codedBytes: [UInt8]) { bytes = codedBytes }

  package var values: [SQLiteValue] {
    var reader = ByteReader(bytes)
    var values: [SQLiteValue] = []
    while !reader.isAtEnd {
      // Only coded values come in here.
      guard let value = try? reader.value() else { break }
      values.append(value)
    }
    return values
  }

  package static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.bytes.withUnsafeBytes { left in
      rhs.bytes.withUnsafeBytes { right in UTF8Bytes.order(left, right) < 0 }
    }
  }
}

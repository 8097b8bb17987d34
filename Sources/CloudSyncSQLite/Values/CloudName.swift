import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Names of tables and columns as names of record types and fields, and back.
///
/// A name that the cloud takes stays as it is. Any other one, and whatever the cloud or the engine
/// keeps for itself, is escaped: a prefix, and then every byte that is no letter or digit as `_`
/// and two hexadecimal digits, an underscore as two. Different names stay different.
package enum CloudName {
  /// How many bytes a field's name may have, so that the names beside it have room.
  static let maximumFieldByteCount = 237
  /// How many bytes a record type may have, so that a record's name has room.
  static let maximumTypeByteCount = 180
  /// What the names begin with that the engine keeps for itself.
  static let reservedPrefix = "cloudsync_"
  static let columnPrefix = "cloudsync_column_"
  static let tablePrefix = "cloudsync_table_"

  /// The cloud's own fields, in lower case.
  private static let reservedFields: Set<String> = [
    "recordid", "recordname", "recordtype", "recordchangetag", "etag", "zoneid", "parent", "share",
    "creationdate", "modificationdate", "creatoruserrecordid", "lastmodifieduserrecordid",
    "createdtimestamp", "modifiedtimestamp", "createduserrecordname", "modifieduserrecordname",
    "lastmodifieddate", "createdby", "modifiedby", "deleted", "pluginfields",
  ]

  /// The cloud's own record types, in lower case.
  private static let reservedTypes: Set<String> = ["user", "users", "cloudkit", "share"]

  /// The field of a column; nil if the column's name is too long.
  package static func field(ofColumn column: String) -> String? {
    escape(column, prefix: columnPrefix, reserved: reservedFields, limit: maximumFieldByteCount)
  }

  /// The column of a field; nil if the field is not a column's.
  package static func column(ofField field: String) -> String? {
    unescape(field, prefix: columnPrefix) { Self.field(ofColumn: $0) }
  }

  /// The record type of a table; nil if the table's name is too long.
  package static func recordType(ofTable table: String) -> String? {
    escape(table, prefix: tablePrefix, reserved: reservedTypes, limit: maximumTypeByteCount)
  }

  /// The table of a record type; nil if the type is not a table's.
  package static func table(ofRecordType type: String) -> String? {
    unescape(type, prefix: tablePrefix) { recordType(ofTable: $0) }
  }

  private static func escape(
    _ name: String,
    prefix: String,
    reserved: Set<String>,
    limit: Int
  ) -> String? {
    let lowercased = name.lowercased()
    let isPlain =
      RecordRules.isIdentifier(name) && !lowercased.hasPrefix(reservedPrefix)
      && !reserved.contains(lowercased)
    if isPlain { return name.utf8.count <= limit ? name : nil }
    var bytes = Array(prefix.utf8)
    for byte in name.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: bytes.append(byte)
      case 0x5f: bytes += [0x5f, 0x5f]
      default: bytes += [0x5f] + Hexadecimal.digits(of: byte)
      }
    }
    return bytes.count <= limit ? String(decoding: bytes, as: UTF8.self) : nil
  }

  private static func unescape(
    _ name: String,
    prefix: String,
    escape: (String) -> String?
  ) -> String? {
    guard name.utf8.starts(with: prefix.utf8) else {
      return escape(name).flatMap { UTF8Bytes.equal($0, name) ? name : nil }
    }
    var result: [UInt8] = []
    var rest = name.utf8.dropFirst(prefix.utf8.count)
    while let byte = rest.popFirst() {
      guard byte == 0x5f else {
        result.append(byte)
        continue
      }
      guard let high = rest.popFirst() else { return nil }
      if high == 0x5f {
        result.append(0x5f)
      } else if let low = rest.popFirst(), let value = Hexadecimal.byte(high, low) {
        result.append(value)
      } else {
        return nil
      }
    }
    // Only what escaping gives is an escape: one name, one form.
    guard let original = result.withUnsafeBytes({ UTF8Bytes.text($0) }),
      let again = escape(original), UTF8Bytes.equal(again, name)
    else { return nil }
    return original
  }
}

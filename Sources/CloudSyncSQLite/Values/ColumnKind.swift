package import CloudSyncCore

/// The kind of values that a column's own field holds in a record.
///
/// A cloud fixes the kind of a field when it is first saved, while a column of SQLite's may hold
/// anything. So a value of another kind than the column's own lies in a field beside it, whose name
/// begins with ``prefix``.
package enum ColumnKind: String, Sendable, Hashable, CaseIterable {
  case integer, real, text, blob
  /// A BLOB in a file; never a column's own kind.
  case asset
  /// A text in a file; never a column's own kind.
  case textAsset
  /// Text that is no UTF-8 or holds a NUL, as bytes; never a column's own kind.
  case bytes

  /// What the names of fields begin with that hold such a value in place of a column's own.
  package var prefix: String {
    switch self {
    case .integer: "cloudsync_integer_"
    case .real: "cloudsync_real_"
    case .text: "cloudsync_text_"
    case .blob: "cloudsync_blob_"
    case .asset: "cloudsync_asset_"
    case .textAsset: "cloudsync_textasset_"
    case .bytes: "cloudsync_bytes_"
    }
  }

  /// The kind of a value; nil for NULL, which has no field, and for what no column holds.
  package init?(of value: FieldValue) {
    switch value {
    case .int64: self = .integer
    case .double: self = .real
    case .string: self = .text
    case .data: self = .blob
    case .asset: self = .asset
    case .list: self = value.textAsset == nil ? .bytes : .textAsset
    case .null, .timestamp, .reference, .location, .redacted: return nil
    }
  }

  /// A column's own kind, by the type that it was declared with.
  ///
  /// These are SQLite's rules of affinity; where they say NUMERIC, which is no kind of values,
  /// truth values are integers, dates and times text, and everything else is real.
  package init(declaredType type: String) {
    let name = type.uppercased()
    let has = { (part: String) in name.contains(part) }
    if has("INT") {
      self = .integer
    } else if has("CHAR") || has("CLOB") || has("TEXT") {
      self = .text
    } else if has("BLOB") || name.isEmpty || name == "ANY" {
      self = .blob
    } else if has("REAL") || has("FLOA") || has("DOUB") {
      self = .real
    } else if has("BOOL") {
      self = .integer
    } else if has("DATE") || has("TIME") {
      self = .text
    } else {
      self = .real
    }
  }
}

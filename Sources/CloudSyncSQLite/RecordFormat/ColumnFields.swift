import CloudSyncCore

/// The fields in which a column's value may lie; at most one of them is there.
///
/// It is a class because it is handed on for every column of every row.
final class ColumnFields: Sendable {
  let column: String
  /// For values of the column's own kind.
  let own: String
  /// For values of any other kind, as bytes.
  let aside: String
  /// For BLOBs that are in a file.
  let asset: String
  /// For texts that are in a file.
  let textAsset: String
  /// Those beside the column's own.
  let besides: [String]
  let all: [String]
  /// The column's own kind; nil if the table does not have the column, so that its kind is not known.
  let kind: ColumnKind?

  /// What the names begin with of fields beside the columns' own.
  static let asidePrefix = "cloudsync_value_"
  static let assetPrefix = "cloudsync_asset_"
  static let textAssetPrefix = "cloudsync_textasset_"

  /// Creates the fields of a column, or nothing if its name is too long for any field.
  init?(column: String, kind: ColumnKind?) {
    guard let field = CloudName.field(ofColumn: column) else { return nil }
    self.column = column
    self.kind = kind
    own = field
    aside = Self.asidePrefix + field
    asset = Self.assetPrefix + field
    textAsset = Self.textAssetPrefix + field
    besides = [aside, asset, textAsset]
    all = [own] + besides
  }

  /// Where a value lies, and how; nil for NULL, which has no field.
  ///
  /// What no column can hold is whoever's has written it, and stays where it was found.
  func field(for value: FieldValue) -> RecordField? {
    switch ColumnKind(of: value) {
    case nil: return value.isNull ? nil : RecordField(name: own, value: value)
    case .asset?: return RecordField(name: asset, value: value)
    case .textAsset?: return value.textAsset.map { RecordField(name: textAsset, value: .asset($0)) }
    case .bytes?: break
    // Of a column that the table does not have it is not known what its own field takes.
    case let other?:
      if other == kind { return RecordField(name: own, value: value) }
    }
    guard let bytes = AsideValue.bytes(of: value) else {
      return RecordField(name: own, value: value)
    }
    return RecordField(name: aside, value: .data(bytes))
  }

  /// Whether a value lies in the column's own field; true for what is in no other.
  func isOwn(_ value: FieldValue) -> Bool {
    field(for: value).map { UTF8Bytes.equal($0.name, own) } ?? true
  }

  /// A counter's sum as others can read it: in the kind of the column's own field, if that loses nothing of use.
  func shown(_ sum: CounterSum) -> FieldValue {
    if case .whole(let number) = sum, kind == .real { return .double(Double(number)) }
    return sum.fieldValue
  }
}

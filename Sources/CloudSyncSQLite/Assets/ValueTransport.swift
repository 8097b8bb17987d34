import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How values of columns travel: large BLOBs and texts as files.
struct ValueTransport: Sendable {
  let assets: AssetFolder?

  /// The size in bytes over which a BLOB is an asset.
  var assetThreshold: Int { assets?.options.threshold ?? .max }
  /// The size in bytes over which a text is one.
  var textThreshold: Int { assets?.options.countedTextThreshold ?? .max }

  init(_ options: SyncEngineOptions) { assets = options.assets.map { AssetFolder(options: $0) } }

  /// A value as it travels.
  ///
  /// - Parameters:
  ///   - value: The value as it is stored.
  ///   - isWhole: Whether it is in no file, as one of a column that the engine compares: see
  ///     ``RecordTable/comparesValues``.
  /// - Returns: The field's value.
  func fieldValue(_ value: SQLiteValue, isWhole: Bool) -> FieldValue {
    let encoded = ValueCodec.encode(
      value,
      assetThreshold: isWhole ? .max : assetThreshold,
      textThreshold: isWhole ? .max : textThreshold
    )
    switch encoded {
    case .field(let field): return field
    case .asset(let bytes):
      return assets.map { .asset($0.asset(of: bytes)) } ?? .data(Data(bytes))
    case .textAsset(let bytes):
      return assets.map { .textAsset($0.asset(of: bytes)) } ?? ValueCodec.field(ofText: bytes)
    }
  }

  /// A column's value as it is stored, read from its file if it is an asset; nil for what no column
  /// can hold.
  ///
  /// - Throws: As a broken constraint, that the file is not to be had.
  func stored(_ column: VersionedColumn) throws(SQLiteError) -> SQLiteValue? {
    switch ValueCodec.decode(column.value) {
    case .value(let value)?: return value
    case .asset(let asset)?: return .blob(try bytes(of: asset, in: column))
    case .textAsset(let asset)?: return ValueCodec.text(of: try bytes(of: asset, in: column))
    case nil: return nil
    }
  }

  private func bytes(of asset: Asset, in column: VersionedColumn) throws(SQLiteError) -> [UInt8] {
    guard let assets else {
      // SQLITE_CONSTRAINT: what SQLite refuses is set aside, and so is this.
      throw SQLiteError(
        code: 19,
        message: "column \(column.name) is an asset: set SyncEngineOptions.assets"
      )
    }
    switch assets.read(asset) {
    case .success(let bytes): return bytes
    case .failure(let failure):
      throw SQLiteError(
        code: Int32(SQLiteError.missingFile),
        message: "column \(column.name): \(failure.reason)"
      )
    }
  }
}

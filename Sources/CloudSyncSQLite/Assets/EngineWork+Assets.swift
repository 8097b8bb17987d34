import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Turns values into what travels, and back.
struct ValueTransport {
  let assets: AssetFolder?

  init(_ options: SyncEngineOptions) { assets = options.assets.map { AssetFolder(options: $0) } }

  /// A value as it travels.
  func fieldValue(_ value: SQLiteValue) -> FieldValue {
    switch ValueCodec.encode(value, assetThreshold: assets?.options.threshold ?? .max) {
    case .field(let field): field
    case .asset(let bytes): assets.map { .asset($0.asset(of: bytes)) } ?? .data(Data(bytes))
    }
  }

  /// A column's value as it is stored, read from its file if it is an asset; nil for what no column
  /// can hold.
  ///
  /// - Throws: As a broken constraint, that the file is not to be had.
  func stored(_ column: VersionedColumn) throws(SQLiteError) -> SQLiteValue? {
    switch ValueCodec.decode(column.value) {
    case .value(let value)?: return value
    case .asset(let asset)?:
      guard let assets else {
        throw .missingAsset("column \(column.name) is an asset: set SyncEngineOptions.assets")
      }
      switch assets.read(asset) {
      case .success(let bytes): return .blob(bytes)
      case .failure(let failure): throw .missingAsset("column \(column.name): \(failure.reason)")
      }
    case nil: return nil
    }
  }
}

extension SQLiteError {
  /// Says that a row cannot be stored because a file is missing.
  fileprivate static func missingAsset(_ reason: String) -> SQLiteError {
    // SQLITE_CONSTRAINT: what SQLite refuses is set aside, and so is this.
    SQLiteError(code: 19, message: reason)
  }
}

extension EngineWork {
  var transport: ValueTransport { ValueTransport(options) }
  private var assets: AssetFolder? { transport.assets }

  // MARK: Sending

  /// Writes the files of an edit's assets; one that the cloud has already is left out of the edit.
  func withAssets(
    _ edit: Record,
    of row: RowState,
    _ values: [SQLiteValue]?
  ) throws(SQLiteError) -> Record {
    guard let assets, let values else { return edit }
    var edit = edit
    for field in edit.fields {
      guard case .asset(let asset) = field.value else { continue }
      if case .asset(let known)? = row.server?[field.name], known.byteCount == asset.byteCount,
        known.sha256 == asset.sha256
      {
        edit[field.name] = nil
        continue
      }
      let blob = values.lazy
        .compactMap { value -> [UInt8]? in
          guard case .blob(let bytes) = value, Int64(bytes.count) == asset.byteCount,
            assets.asset(of: bytes) == asset
          else { return nil }
          return bytes
        }
        .first
      guard let blob else { continue }
      try assets.write(blob, as: asset)
      try store.noteAsset(Array(asset.sha256), of: row)
    }
    return edit
  }

  /// Removes the files of what is no longer on its way.
  func removeArrivedAssets() throws(SQLiteError) {
    guard let assets else { return }
    for digest in try store.takeIdleAssets() { try assets.remove(digest) }
  }
}

extension MetadataStore {
  /// Notes that a row that is to be sent needs a file.
  func noteAsset(_ digest: [UInt8], of row: RowState) throws(SQLiteError) {
    try connection.fixedStatement("INSERT OR IGNORE INTO cloudsync_assets VALUES(?1, ?2, ?3)")
      .bind(digest, at: 1).bind(row.table, at: 2).bind(row.key, at: 3).run()
  }

  /// The files that no row needs which is still to be sent; they are forgotten here.
  func takeIdleAssets() throws(SQLiteError) -> [[UInt8]] {
    let query = try connection.fixedStatement(
      """
      SELECT DISTINCT digest FROM cloudsync_assets a WHERE NOT EXISTS(
        SELECT 1 FROM cloudsync_assets b
          JOIN cloudsync_rows r ON r.table_id = b.table_id AND r.key IS b.key
        WHERE b.digest = a.digest AND r.dirty IS NOT NULL)
      ORDER BY digest
      """
    )
    var digests: [[UInt8]] = []
    try query.forEachRow { digests.append(query.bytes(0)) }
    for digest in digests {
      try connection.fixedStatement("DELETE FROM cloudsync_assets WHERE digest = ?1")
        .bind(digest, at: 1).run()
    }
    return digests
  }
}

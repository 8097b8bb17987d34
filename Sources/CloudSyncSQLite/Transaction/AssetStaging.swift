import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Puts large BLOBs into files when they are sent, and into the engine's tables when their row is in no table.
struct AssetStaging {
  let assets: AssetFolder
  let connection: SQLiteConnection

  init?(_ table: RecordTable, _ connection: SQLiteConnection) {
    guard let assets = table.transport.assets else { return nil }
    self.assets = assets
    self.connection = connection
  }

  // MARK: Sending

  /// A version whose large BLOBs are assets, wherever their bytes are.
  func staged(_ version: RecordVersion) -> RecordVersion {
    var staged = version
    for column in version.columns {
      guard case .data(let data) = column.value, data.count > assets.options.threshold else {
        continue
      }
      let asset = FieldValue.asset(assets.asset(of: Array(data)))
      staged.set(VersionedColumn(name: column.name, value: asset, time: column.time))
    }
    return staged
  }

  /// Writes the files of a record's assets.
  ///
  /// - Parameters:
  ///   - record: What is to be sent.
  ///   - row: Its row.
  /// - Throws: That a file cannot be written.
  func writeFiles(of record: Record, in row: LoadedRow) throws(SQLiteError) {
    for field in record.fields {
      guard case .asset(let asset) = field.value, let bytes = bytes(of: asset, in: row) else {
        continue
      }
      try assets.write(bytes, as: asset)
      try StagedAssets(connection: connection).note(Array(asset.sha256), of: row.rowKey)
    }
  }

  private func bytes(of asset: Asset, in row: LoadedRow) -> [UInt8]? {
    for case .blob(let bytes) in row.values ?? row.formerValues ?? []
    where Int64(bytes.count) == asset.byteCount && assets.asset(of: bytes) == asset {
      return bytes
    }
    for column in row.state.row?.columns ?? [] {
      if case .data(let data) = column.value, Int64(data.count) == asset.byteCount,
        assets.asset(of: Array(data)) == asset
      {
        return Array(data)
      }
    }
    return nil
  }

  /// Removes the files of what is not on its way any more.
  func removeArrived() throws(SQLiteError) {
    for digest in try StagedAssets(connection: connection).takeIdle() { try assets.remove(digest) }
  }

  // MARK: Keeping

  /// A version with the bytes of its assets, as far as they are to be had: nobody else keeps them.
  func inlined(_ version: RecordVersion, of row: LoadedRow) -> RecordVersion {
    var inlined = version
    for column in version.columns {
      guard case .asset(let asset) = column.value else { continue }
      var found = bytes(of: asset, in: row)
      if found == nil, case .success(let bytes) = assets.read(asset) { found = bytes }
      guard let found else { continue }
      inlined.set(
        VersionedColumn(name: column.name, value: .data(Data(found)), time: column.time)
      )
    }
    return inlined
  }
}

import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Puts large BLOBs and texts into files when they are sent, and into the engine's tables when their row is in no table.
struct AssetStaging {
  let assets: AssetFolder
  let connection: SQLiteConnection
  private let table: RecordTable

  init?(_ table: RecordTable, _ connection: SQLiteConnection) {
    guard let assets = table.transport.assets else { return nil }
    self.assets = assets
    self.connection = connection
    self.table = table
  }

  // MARK: Sending

  /// A version whose large BLOBs and texts are assets, wherever their bytes are, but for those of keys.
  func staged(_ version: RecordVersion) -> RecordVersion {
    assets.staged(version, isCompared: table.isCompared)
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
    // Most values are of another length, and are not copied.
    func meant(_ bytes: some Collection<UInt8>) -> [UInt8]? {
      guard Int64(bytes.count) == asset.byteCount else { return nil }
      let bytes = Array(bytes)
      return assets.asset(of: bytes) == asset ? bytes : nil
    }
    // What a row had that has lost its key to another one is in the table no more.
    for value in (row.values ?? []) + (row.formerValues ?? []) {
      switch value {
      case .blob(let bytes): if let found = meant(bytes) { return found }
      case .text(let text): if let found = meant(text.utf8) { return found }
      case .malformedText(let bytes): if let found = meant(bytes) { return found }
      case .null, .integer, .real: break
      }
    }
    for column in row.state.row?.columns ?? [] {
      switch column.value {
      case .data(let data): if let found = meant(data) { return found }
      case .string(let text): if let found = meant(text.utf8) { return found }
      case .list: if let found = column.value.textBytes.flatMap({ meant($0) }) { return found }
      default: break
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
      let text = column.value.textAsset
      guard let asset = text ?? column.value.assetValue else { continue }
      var found = bytes(of: asset, in: row)
      if found == nil, case .success(let bytes) = assets.read(asset) { found = bytes }
      guard let found else { continue }
      let value = text == nil ? .data(Data(found)) : ValueCodec.field(ofText: found)
      inlined.set(VersionedColumn(name: column.name, value: value, time: column.time))
    }
    return inlined
  }
}

extension AssetFolder {
  /// A version whose large BLOBs and texts are assets, but for those of columns that are compared.
  func staged(_ version: RecordVersion, isCompared: (String) -> Bool) -> RecordVersion {
    var staged = version
    for column in version.columns {
      guard let asset = asset(of: column.value), !isCompared(column.name) else { continue }
      staged.set(VersionedColumn(name: column.name, value: asset, time: column.time))
    }
    return staged
  }

  private func asset(of value: FieldValue) -> FieldValue? {
    switch value {
    case .data(let data) where data.count > options.threshold:
      .asset(asset(of: Array(data)))
    // Most texts are short, and are not copied.
    case .string(let text) where text.utf8.count <= options.countedTextThreshold: nil
    case .string, .list:
      value.textBytes.flatMap { bytes in
        bytes.count > options.countedTextThreshold ? .textAsset(asset(of: bytes)) : nil
      }
    default: nil
    }
  }
}

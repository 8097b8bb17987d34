import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension EngineWork {
  /// A row with the bytes of its assets, whose files need not be there when it is stored.
  ///
  /// What cannot be read stays an asset.
  func inlined(
    _ version: RowVersion,
    of row: RowState,
    _ table: SyncTable
  ) throws(SQLiteError) -> RowVersion {
    let assets = version.columns.filter { if case .asset = $0.value { true } else { false } }
    if assets.isEmpty { return version }
    var version = version
    let key = try table.keyValues(of: row.key, in: connection)
    let values = try rows(of: table).values(of: key)
    for column in assets {
      let place = table.schema.writableColumns.firstIndex { $0.name == column.name }
      if let place, case .blob(let bytes)? = values?[place],
        ValueContent.areEqual(.data(Data(bytes)), column.value)
      {
        version[column.name]?.value = .data(Data(bytes))
        continue
      }
      do throws(SQLiteError) {
        if case .blob(let bytes)? = try transport.stored(column) {
          version[column.name]?.value = .data(Data(bytes))
        }
      } catch {
        guard error.isRefusal else { throw error }
      }
    }
    return version
  }

  /// A row that is beside its table as it travels, with its values in the order of the columns.
  func travelling(
    _ version: RowVersion,
    _ table: SyncTable
  ) -> (version: RowVersion, values: [SQLiteValue]) {
    var version = version
    var values: [SQLiteValue] = []
    for column in table.schema.writableColumns {
      guard let known = version[column.name],
        case .value(let value)? = ValueCodec.decode(known.value)
      else {
        values.append(.null)
        continue
      }
      values.append(value)
      if case .blob = value { version[column.name]?.value = transport.fieldValue(value) }
    }
    return (version, values)
  }
}

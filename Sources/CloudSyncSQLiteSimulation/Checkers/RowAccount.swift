import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator

/// All that is known of a row in the end, in words: for whoever has to find out what went wrong with it.
struct RowAccount {
  let devices: [SQLiteDevice]
  let end: SimulationEnd

  func words(id: RowID) -> String {
    var parts = [RowHistories(devices)[id]?.words ?? "nobody has made it"]
    for device in devices {
      let tables = device.schema.tables(version: device.version)
      guard let table = tables.first(where: { $0.name == id.table }) else { continue }
      let row = device.rows(of: table).first { $0.id == id }
      parts.append("device \(device.setup.number) has \(row?.line ?? "nothing")")
    }
    let record = end.records.first { $0.recordID.name == id.recordName }
    let content = record.flatMap { RecordContent($0) }
    parts.append("the cloud has \(content?.times ?? "nothing")")
    return ": " + parts.joined(separator: "; ")
  }
}

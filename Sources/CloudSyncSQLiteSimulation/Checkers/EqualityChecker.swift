import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// A row with the values of its columns.
struct EndRow {
  var id: RowID
  var values: [(column: String, value: SQLiteValue)]

  var recordName: String { id.recordName }

  subscript(column: String) -> SQLiteValue? { values.first { $0.column == column }?.value }

  var line: String { line(columns: values.map(\.column)) }

  func line(columns: [String]) -> String {
    "\(id)"
      + values.filter { columns.contains($0.column) }
      .map { " \($0.column): \($0.value.literal)" }.joined()
  }
}

extension EndRow {
  /// A row as the cloud has it; nil if its record is of no row of the table.
  init?(_ record: Record, table: SimulatedSchema.Table) {
    guard let name = RecordName.parse(record.recordID.name), name.table == table.name,
      case .values(let key) = name.key, let content = RecordContent(record), !content.isDeleted
    else { return nil }
    let values = table.columns.map { column in
      (column: column.name, value: column.value(in: content) ?? column.initialValue)
    }
    self.init(id: .canonical(table: table.name, key: key), values: values)
  }
}

extension SimulatedSchema.Column {
  /// Its value as the cloud has it, its default if nobody has ever set it; nil for what is no value.
  fileprivate func value(in content: RecordContent) -> SQLiteValue? {
    guard let known = content.values[name] else { return initialValue }
    guard case .value(let value)? = ValueCodec.decode(known) else { return nil }
    return value
  }
}

extension SQLiteDevice {
  /// The rows of a table, in the order of their keys, without those whose records have these names.
  func rows(of table: SimulatedSchema.Table, but names: Set<String>) -> [EndRow] {
    let rows = rows(of: table)
    return names.isEmpty ? rows : rows.filter { !names.contains($0.recordName) }
  }

  /// The rows of a table, in the order of their keys.
  func rows(of table: SimulatedSchema.Table) -> [EndRow] {
    let key = table.key.map(\.name)
    let names = table.spelledColumns
    let list = (key + names).joined(separator: ", ")
    let query = "SELECT \(list) FROM \(table.name) ORDER BY \(key.joined(separator: ", "))"
    let found = attempt { () throws in try disk.file().rows(sql: query) }
    return (found ?? [])
      .map { row in
        let id = RowID.canonical(table: table.name, key: Array(row.prefix(key.count)))
        let values = zip(names, row.dropFirst(key.count)).map { (column: $0, value: $1) }
        return EndRow(id: id, values: Array(values))
      }
  }
}

/// In the end every device has the rows that the others have, and the cloud.
final class EqualityChecker: ZoneLossChecker {
  let rule = "in the end all databases are equal, and equal to the cloud"

  var losesZones = false

  func finish(_ end: SimulationEnd) -> String? {
    let devices = end.devices.compactMap { $0.device as? SQLiteDevice }
    // Whoever knows most is compared with the cloud, and the others with it.
    guard let best = devices.max(by: { $0.version.rank < $1.version.rank }) else { return nil }
    let account = RowAccount(devices: devices, end: end)
    let parked = best.parked
    for (number, device) in devices.enumerated() where device.version == best.version {
      if let name = Set(device.parked).symmetricDifference(parked).min() {
        return
          "\(name) waits beside its table on device \(number) or on \(best.setup.number), not on both"
      }
    }
    let orphans = Set((losesZones ? devices.flatMap(\.orphans) : []) + parked)
    for (number, device) in devices.enumerated() {
      for table in best.schema.tables(version: best.version) {
        let own = device.schema.tables(version: device.version)
        guard let ownTable = own.first(where: { $0.name == table.name }) else { continue }
        let found = device.rows(of: ownTable, but: orphans)
        let wanted = best.rows(of: table, but: orphans)
        let common = ownTable.spelledColumns.filter(table.spelledColumns.contains)
        guard let (row, text) = Self.difference(of: found, from: wanted, in: common) else {
          continue
        }
        return "device \(number) \(text), unlike device \(best.setup.number)"
          + account.words(id: row)
      }
    }
    guard let (row, text) = Self.difference(device: best, records: end.records, but: orphans) else {
      return nil
    }
    return text + (row.map { account.words(id: $0) } ?? "")
  }

  private static func difference(
    of found: [EndRow],
    from wanted: [EndRow],
    in columns: [String]
  ) -> (RowID, String)? {
    let present = Set(found.map { $0.line(columns: columns) })
    let expected = Set(wanted.map { $0.line(columns: columns) })
    if let row = found.first(where: { !expected.contains($0.line(columns: columns)) }) {
      return (row.id, "has \(row.line)")
    }
    return wanted.first { !present.contains($0.line(columns: columns)) }
      .map { ($0.id, "lacks \($0.line)") }
  }

  /// What a device has otherwise than the cloud.
  private static func difference(
    device: SQLiteDevice,
    records: [Record],
    but orphans: Set<String>
  ) -> (RowID?, String)? {
    let tables = device.schema.tables(version: device.version)
    var rows: [(name: String, row: EndRow, table: SimulatedSchema.Table)] = []
    for table in tables {
      rows += device.rows(of: table, but: orphans).map { ($0.recordName, $0, table) }
    }
    let records = records.filter { record in
      // Tombstones tell of rows that are nowhere.
      record.recordID.name != ZoneRecord.name
        && RecordContent(record)?.isDeleted != true
    }
    for record in records where !orphans.contains(record.recordID.name) {
      let name = RecordName.parse(record.recordID.name)
      guard let name, tables.contains(where: { $0.name == name.table }) else {
        if !device.version.hasAdditions { continue }
        return (nil, "the cloud has \(record.recordID.name), which is of no table")
      }
      guard let found = rows.first(where: { $0.name == record.recordID.name }) else {
        guard case .values(let key) = name.key else { return (nil, record.recordID.name) }
        let id = RowID(table: name.table, key: key)
        return (id, "the cloud has \(id), the devices do not")
      }
      guard let version = RecordContent(record) else {
        return (found.row.id, "\(record.recordID.name) in the cloud is no row")
      }
      for column in found.table.columns {
        let inCloud = column.value(in: version)?.literal ?? "no value"
        guard found.row[column.name]?.literal != inCloud else { continue }
        return (found.row.id, "\(found.row.line) has \(column.name) in the cloud \(inCloud)")
      }
    }
    let names = Set(records.map(\.recordID.name))
    return rows.first { !names.contains($0.name) }
      .map { ($0.row.id, "the cloud has no \($0.row.line)") }
  }
}

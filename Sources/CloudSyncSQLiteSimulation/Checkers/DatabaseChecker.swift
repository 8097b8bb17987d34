import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator

/// In the end the engine has nothing left to do, and every database is sound.
final class DatabaseChecker: ZoneLossChecker {
  let rule = "in the end every database is sound and every row is clean"

  var losesZones = false

  /// Queries of records that must give nothing.
  private static let noRecords = [
    // A row whose key another one has got on another device is kept, and told of.
    """
    SELECT record_name, status, error, waits_for FROM cloudsync_status
    WHERE status <> 'clean' AND error_code IS NOT 1555
    """,
    "SELECT record_name FROM cloudsync_pending WHERE is_dirty",
  ]
  /// Other queries that must give nothing.
  private static let empty = [
    "SELECT table_id, k0, change FROM cloudsync_outbox",
    "SELECT table_id, key FROM cloudsync_seen",
    "SELECT own_table FROM cloudsync_clock WHERE own_table IS NOT NULL",
    "PRAGMA foreign_key_check",
    "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
  ]

  func finish(_ end: SimulationEnd) -> String? {
    for (number, entry) in end.devices.enumerated() {
      guard let device = entry.device as? SQLiteDevice else { continue }
      let failures = device.history.withLock { $0.failures }
      if let failure = failures.first { return "device \(number): \(failure)" }
      guard device.engine?.isRunning == true else { return "the engine of device \(number) is off" }
      var but = losesZones ? " AND record_name NOT IN (\(SQLiteDevice.orphans))" : ""
      if device.schema.uniqueness == .parked {
        but += " AND record_name NOT IN (\(SQLiteDevice.parked))"
      }
      for query in Self.noRecords.map({ $0 + but }) + Self.empty {
        let lines = device.attempt { () throws in try device.disk.file().lines(sql: query) }
        guard let lines else { return "device \(number) cannot be read: \(query)" }
        if let line = lines.first { return "device \(number): \(line) is left by \(query)" }
      }
    }
    return nil
  }
}

extension SQLiteDevice {
  /// The names of the records that wait for a parent which nobody has.
  ///
  /// Who has deleted the parent deletes its children as they come. But who brings children back into a
  /// zone that was lost cannot know that, nor can those who had deleted them.
  var orphans: [String] { names(by: Self.orphans) }

  /// The names of the records whose rows wait beside their tables: newer ones have their unique values, or their parents wait.
  var parked: [String] { schema.uniqueness == .parked ? names(by: Self.parked) : [] }

  private func names(by query: String) -> [String] {
    let found = attempt { () throws in try disk.file().rows(sql: query) }
    var names: [String] = []
    for case .text(let name)? in (found ?? []).map(\.first) { names.append(name) }
    return names
  }

  fileprivate static let orphans = """
    SELECT record_name FROM cloudsync_pending WHERE waits_for IS NOT NULL
    """

  fileprivate static let parked = """
    SELECT record_name FROM cloudsync_pending
    WHERE NOT is_dirty AND (error_code = 2067 OR waits_for IS NOT NULL)
    """
}

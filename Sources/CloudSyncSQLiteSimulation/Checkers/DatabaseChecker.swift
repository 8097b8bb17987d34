import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator

/// In the end the engine has nothing left to do, and every database is sound.
final class DatabaseChecker: SimulationChecker {
  let rule = "in the end every database is sound and every row is clean"

  /// Queries that must give nothing.
  private static let empty = [
    "SELECT record_name, status, error, waits_for FROM cloudsync_status WHERE status <> 'clean'",
    "SELECT record_name FROM cloudsync_rows WHERE dirty IS NOT NULL OR payload IS NOT NULL",
    "SELECT record_name FROM cloudsync_rows WHERE server IS NULL",
    "SELECT table_id, key, change FROM cloudsync_outbox",
    "SELECT record_name FROM cloudsync_seen",
    "SELECT applying_key FROM cloudsync_clock WHERE applying_table IS NOT NULL",
    "PRAGMA foreign_key_check",
    "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
  ]

  func finish(_ end: SimulationEnd) -> String? {
    for (number, seat) in end.devices.enumerated() {
      guard let device = seat.device as? SQLiteDevice else { continue }
      let failures = device.history.withLock { $0.failures }
      if let failure = failures.first { return "device \(number): \(failure)" }
      guard device.engine?.isRunning == true else { return "the engine of device \(number) is off" }
      for query in Self.empty {
        let lines = device.attempt { () throws in try device.disk.file().lines(query) }
        guard let lines else { return "device \(number) cannot be read: \(query)" }
        if let line = lines.first { return "device \(number): \(line) is left by \(query)" }
      }
    }
    return nil
  }
}

import CloudSyncCore
import CloudSyncSQLiteSupport

/// The SQL function `uuid()`, which defaults of the documented schemas call and SQLite lacks.
enum UUIDFunction {
  /// Stands beside the function where it is the engine's, which another environment may replace.
  private static let mark = "cloudsync_uuid"

  /// Gives a connection the function, unless its host has one of its own.
  static func install(
    on connection: SQLiteConnection,
    environment: SyncEnvironment
  ) throws(SQLiteError) {
    let nonce = environment.nonce
    if connection.hasFunction("uuid"), !connection.hasFunction(mark) { return }
    let body = { @Sendable in
      // A simulated environment counts; mixed, that looks like the numbers of the real one.
      text(high: SplitMix64.first(of: nonce()), low: SplitMix64.first(of: nonce()))
    }
    try connection.addTextFunction("uuid", body)
    try connection.addTextFunction(mark, body)
  }

  /// A UUID of version 4 (RFC 9562) in small letters, of 122 of these bits.
  static func text(high: UInt64, low: UInt64) -> String {
    var bytes = [high, low]
      .flatMap { number in
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
      }
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
      .map { Hexadecimal.text(of: bytes[$0]) }
      .joined(separator: "-")
  }
}

import CloudSyncLocalCloud
import CloudSyncSession

/// The advisory locks of a store.
///
/// They belong to a whole database; the schema's number keeps stores in several schemas apart.
enum PostgresLocks: Int32 {
  case schema = 1
  case counters = 2
  case setUp = 3

  /// Waits for a lock of the store, and holds it to the end of the transaction.
  func call(in namespace: Int32) -> PostgresCall {
    PostgresCall(.lockStore, .smaller(namespace), .smaller(rawValue))
  }

  /// Waits for a lock that a transaction of the engine's asks for.
  static func call(_ lock: LocalCloudLock, in namespace: Int32) -> PostgresCall {
    switch lock {
    case .schema: schema.call(in: namespace)
    case .counters: counters.call(in: namespace)
    case .account(let identity):
      PostgresCall(.lockAccount, .integer(number(of: identity.value, in: namespace)))
    }
  }

  /// A number for a name, the same in every process: FNV-1a of 64 bits.
  static func number(of name: String, in namespace: Int32) -> Int64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for shift in [0, 8, 16, 24] {
      hash =
        (hash ^ UInt64(UInt8(truncatingIfNeeded: namespace >> Int32(shift)))) &* 0x100_0000_01b3
    }
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int64(bitPattern: hash)
  }
}

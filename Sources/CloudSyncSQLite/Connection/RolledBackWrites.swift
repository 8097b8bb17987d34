import CloudSyncSQLiteSupport

/// Writes to the app's tables over which triggers have rolled a whole transaction back.
///
/// The transaction is run again, and takes these for refused without trying them: what came with them is not
/// held up. The next transaction knows nothing of them, and tries them when it would try any refused row.
final class RolledBackWrites {
  /// A row that was to be written or deleted.
  struct Write: Hashable {
    let table: String
    let key: [SQLiteValue]
    let isDeletion: Bool
  }

  /// How many times a transaction is run again; each time does all of its work.
  private static let limit = 64

  private var errors: [Write: SQLiteError] = [:]
  private var isToBeRunAgain = false

  /// Why a write cannot be done; nil if nobody has rolled it back.
  func error(of write: Write) -> SQLiteError? { errors[write] }

  /// Notes that a write was rolled back.
  func note(_ write: Write, error: SQLiteError) {
    isToBeRunAgain = errors.count < Self.limit && errors[write] == nil
    errors[write] = error
  }

  /// Runs a body in a transaction, and again as long as a write is rolled back that it did not know of.
  func transaction<Value>(
    on connection: SQLiteConnection,
    _ body: () throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    while true {
      isToBeRunAgain = false
      do throws(SQLiteError) { return try connection.transaction(body) } catch {
        guard isToBeRunAgain else { throw error }
      }
    }
  }
}

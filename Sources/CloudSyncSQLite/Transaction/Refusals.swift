import CloudSyncCore
import CloudSyncSQLiteSupport

/// The rows whose records the cloud has refused as invalid: their values may belong into other fields.
struct InvalidRows: TransactionPart {
  let transaction: SyncTransaction

  /// Whether there are any, and a record has shown that fields are of another kind than was thought.
  func areExplained() throws(SQLiteError) -> Bool {
    guard transaction.mayLearnKinds, try facts.value(.shownKinds) != nil else { return false }
    return try find().isEmpty == false
  }

  func find() throws(SQLiteError) -> [LoadedRow] {
    var found: [LoadedRow] = []
    for key in try stored.pending.parked(in: nil) {
      guard let row = try row(key), case .refusal(let refusal)? = row.state.hold,
        refusal.code == Int64(SyncError.Code.invalidArguments.rawValue)
      else { continue }
      found.append(row)
    }
    return found
  }
}

extension SQLiteError {
  /// Whether SQLite, or a trigger of the app's, refuses a row for what it holds.
  var isRefusal: Bool {
    if kind == .constraint || kind == .foreignKey { return true }
    // A datatype that does not match, and a value too large for this build.
    return code & 0xff == 20 || code & 0xff == 18
  }

  /// Whether it may be a trigger of the app's that is broken: it names what is not there, or calls what fails, or the
  /// search index that it keeps is damaged.
  var isOfTrigger: Bool { Self.isOfTrigger(Int64(code)) }

  static func isOfTrigger(_ code: Int64) -> Bool {
    // SQLITE_ERROR and SQLITE_CORRUPT_VTAB.
    code == 1 || code == 267
  }

  /// A file of an asset that is not to be had: a constraint of the engine's own, which SQLite's extended codes do not reach.
  static let missingFile: Int64 = 25_363

  /// SQLite's code for a unique key that is taken.
  static let unique: Int64 = 2_067

  /// Whether SQLite's code says that a unique key is taken.
  static func isUnique(_ code: Int64) -> Bool {
    // SQLITE_CONSTRAINT_UNIQUE, …_PRIMARYKEY and …_ROWID.
    [unique, 1_555, 2_579].contains(code)
  }
}

extension Placement {
  /// Whether SQLite refuses the row, or would if it were written.
  var isViolation: Bool {
    switch self {
    case .violates, .heldBy: true
    case .inTable, .awaitsParent, .deletionDeferred: false
    }
  }

  /// Whether the row waits for the file of an asset: the cloud is asked for its record again, which brings one.
  var lacksFile: Bool {
    if case .violates(SQLiteError.missingFile, _) = self { true } else { false }
  }

  /// Whether another row has its value of a unique key.
  var isOfUniqueKey: Bool {
    switch self {
    case .violates(let code, _): SQLiteError.isUnique(code)
    case .heldBy: true
    case .inTable, .awaitsParent, .deletionDeferred: false
    }
  }

  /// The name of the record that the row waits for.
  var awaited: String? {
    switch self {
    case .awaitsParent(let name), .heldBy(let name, _): name
    case .inTable, .violates, .deletionDeferred: nil
    }
  }
}

import CloudSyncSQLiteSupport

/// Which tables are to be compared with what is known of their rows.
extension Facts {
  /// Asks for a table to be compared, after a fetch of everything if it is to tell first.
  func requestReconciliation(of table: Int64, fetchesAll: Bool) throws(SQLiteError) {
    var tables = try unreconciledTables()
    if !tables.contains(table) { tables.append(table) }
    try setUnreconciled(to: tables)
    // What was asked for stays so: it fetches everything, too.
    if fetchesAll, try value(.fetchAll) == nil {
      try set(.fetchAll, to: .integer(FullFetch.sweeps.rawValue))
    }
  }

  /// Asks for a table to be compared that was rebuilt, of whose rows nothing is sure until everything was fetched.
  func requestReconciliation(ofRebuilt table: Int64) throws(SQLiteError) {
    try requestReconciliation(of: table, fetchesAll: true)
    try setTables(try rebuiltTables() + [table], as: .rebuilt)
  }

  /// The numbers of the tables that are to be compared.
  func unreconciledTables() throws(SQLiteError) -> [Int64] { try tables(in: .unreconciled) }

  /// The numbers of those that were rebuilt.
  func rebuiltTables() throws(SQLiteError) -> [Int64] { try tables(in: .rebuilt) }

  /// Notes that a table was compared; returns whether there are others.
  func endReconciliation(of table: Int64) throws(SQLiteError) -> Bool {
    let rest = try unreconciledTables().filter { $0 != table }
    try setUnreconciled(to: rest)
    return !rest.isEmpty
  }

  /// Notes that everything was fetched since tables were rebuilt: what was changed unseen in their rows is known.
  func noteEverythingFetched() throws(SQLiteError) {
    if try value(.fetchAll) == nil { try set(.rebuilt, to: nil) }
  }

  // MARK: Long keys

  /// Whether all long keys of a table are noted that rows have of which something is known.
  func hasIndexedKeys(of table: Int64) throws(SQLiteError) -> Bool {
    try tables(in: .indexedKeys).contains(table)
  }

  func noteIndexedKeys(of table: Int64) throws(SQLiteError) {
    try setTables(try tables(in: .indexedKeys) + [table], as: .indexedKeys)
  }

  // MARK: Tables that were left out

  /// Notes that the zone of tables is gone which no engine has synchronized meanwhile.
  ///
  /// What became of the first zone counts: nothing of theirs was in those after it.
  func noteZoneLoss(ofLeftOut tables: [Int64], isErasure: Bool) throws(SQLiteError) {
    let known = try leftTables()
    let new = tables.filter { !known.contains($0) }
    if new.isEmpty { return }
    let fact = isErasure ? Name.leftByErasure : .leftByZone
    try setTables(try self.tables(in: fact) + new, as: fact)
  }

  /// The numbers of the tables that were left out when their zone was lost, or was erased on purpose.
  func leftTables(isErasure: Bool) throws(SQLiteError) -> [Int64] {
    try tables(in: isErasure ? .leftByErasure : .leftByZone)
  }

  /// The numbers of all tables that were left out when their zone went, for whatever reason.
  func leftTables() throws(SQLiteError) -> [Int64] {
    try leftTables(isErasure: false) + leftTables(isErasure: true)
  }

  /// Notes that rows of tables were changed by their foreign keys, and by nobody who edits them.
  func noteOverwritten(_ tables: [Int64]) throws(SQLiteError) {
    let known = try overwrittenTables()
    let new = tables.filter { !known.contains($0) }
    if !new.isEmpty { try setTables(known + new, as: .overwritten) }
  }

  func overwrittenTables() throws(SQLiteError) -> [Int64] { try tables(in: .overwritten) }

  /// Notes that what is known of tables is of the present zone, and that their rows are what it has.
  func endZoneLoss(ofLeftOut tables: [Int64]) throws(SQLiteError) {
    for fact in [Name.leftByZone, .leftByErasure, .overwritten] {
      let left = try self.tables(in: fact)
      let rest = left.filter { !tables.contains($0) }
      if rest != left { try setTables(rest, as: fact) }
    }
  }

  private func tables(in fact: Name) throws(SQLiteError) -> [Int64] {
    guard case .text(let list)? = try value(fact) else { return [] }
    return list.split(separator: ",").compactMap { Int64($0) }
  }

  private func setTables(_ tables: [Int64], as fact: Name) throws(SQLiteError) {
    let list = tables.map { "\($0)" }.joined(separator: ",")
    try set(fact, to: tables.isEmpty ? nil : .text(list))
  }

  private func setUnreconciled(to tables: [Int64]) throws(SQLiteError) {
    try setTables(tables, as: .unreconciled)
    try setTables(try rebuiltTables().filter { tables.contains($0) }, as: .rebuilt)
    try set(.reconciledTo, to: nil)
  }
}

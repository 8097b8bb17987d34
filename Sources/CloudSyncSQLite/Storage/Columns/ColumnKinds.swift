import CloudSyncSQLiteSupport

/// Of which kind the values are that the cloud has in the own fields of columns.
///
/// A cloud fixes the kind of a field when it is first saved. So a column whose type a migration changes keeps the
/// kind that it had, and one that was made anew with another type takes the kind that records show, at the next
/// setup or once the cloud refuses a row for it; values of other kinds lie aside. Where no record shows it,
/// ``KindTrial`` finds out whether the cloud takes rows whose values all lie aside: the kind is ``ColumnKind/bytes`` then.
struct ColumnKinds {
  /// By the type of the records, and by the name of the column.
  typealias Kinds = [String: [String: ColumnKind]]

  let connection: SQLiteConnection

  private var facts: Facts { Facts(connection: connection) }

  /// Takes what records have shown since the last setup; returns the types of these records.
  func takeShown() throws(SQLiteError) -> [String] {
    let shown = try kinds(named: .shownKinds)
    if shown.isEmpty { return [] }
    try learn(shown)
    try facts.set(.shownKinds, to: nil)
    let doubted = try kinds(named: .doubtedKinds)
    let rest = doubted.map { recordType, kinds in
      (recordType, kinds.filter { shown[recordType]?[$0.key] == nil })
    }
    try set(Dictionary(rest) { $1 }.filter { !$0.value.isEmpty }, as: .doubtedKinds)
    return shown.keys.sorted()
  }

  private func learn(_ kinds: Kinds) throws(SQLiteError) {
    let known = try self.kinds(named: .columnKinds)
    try set(known.merging(kinds) { old, new in old.merging(new) { $1 } }, as: .columnKinds)
  }

  /// The kinds of a table's columns; those that were never asked for are what the types say, for good.
  func kinds(
    ofType recordType: String,
    declared: [String: ColumnKind]
  ) throws(SQLiteError) -> [String: ColumnKind] {
    var all = try kinds(named: .columnKinds)
    let known = all[recordType] ?? [:]
    let merged = declared.merging(known) { $1 }
    if merged != known {
      all[recordType] = merged
      try set(all, as: .columnKinds)
    }
    return merged
  }

  /// Notes that a record has shown a column's own field to be of another kind than was thought; returns whether that is
  /// new.
  func show(
    _ kind: ColumnKind,
    of column: String,
    ofType recordType: String
  ) throws(SQLiteError) -> Bool {
    var shown = try kinds(named: .shownKinds)
    if shown[recordType]?[column] == kind { return false }
    shown[recordType, default: [:]][column] = kind
    try set(shown, as: .shownKinds)
    return true
  }

  // MARK: Trials

  /// Whether it is being tried whether the cloud takes rows without columns' own fields.
  func isTrying() throws(SQLiteError) -> Bool { try facts.value(.doubtedKinds) != nil }

  /// The columns whose own fields are left out in a trial; nil if there is none, and empty if there was one in vain.
  func trial(ofType recordType: String) throws(SQLiteError) -> [String]? {
    if let doubted = try kinds(named: .doubtedKinds)[recordType] { return doubted.keys.sorted() }
    return try kinds(named: .triedKinds)[recordType] == nil ? nil : []
  }

  /// Leaves the own fields of columns out from now on, as a trial.
  func doubt(_ kinds: [String: ColumnKind], ofType recordType: String) throws(SQLiteError) {
    var doubted = try self.kinds(named: .doubtedKinds)
    doubted[recordType, default: [:]].merge(kinds) { old, _ in old }
    try set(doubted, as: .doubtedKinds)
    try learn([recordType: kinds.mapValues { _ in .bytes }])
  }

  /// Ends a trial: either its columns' own fields are left out for good, or they are what they were.
  func endTrial(ofType recordType: String, hasHelped: Bool) throws(SQLiteError) {
    var doubted = try kinds(named: .doubtedKinds)
    guard let former = doubted.removeValue(forKey: recordType) else { return }
    try set(doubted, as: .doubtedKinds)
    if hasHelped { return }
    try learn([recordType: former])
    var tried = try kinds(named: .triedKinds)
    tried[recordType] = [:]
    try set(tried, as: .triedKinds)
  }

  // MARK: Storing

  private func kinds(named name: Facts.Name) throws(SQLiteError) -> Kinds {
    try facts.names(name).mapValues { $0.compactMapValues { ColumnKind(rawValue: $0) } }
  }

  private func set(_ kinds: Kinds, as name: Facts.Name) throws(SQLiteError) {
    try facts.set(name, toNames: kinds.mapValues { $0.mapValues(\.rawValue) })
  }
}

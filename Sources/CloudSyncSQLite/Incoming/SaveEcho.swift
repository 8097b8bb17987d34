import CloudSyncCore
import CloudSyncSQLiteSupport

/// Whether the feed has told of what this device has saved last.
///
/// A feed brings a device's own saves too. If a fetch ends that began after a save was answered, and has not brought
/// it, the cloud has lost it: a backup was restored. The token may be from before the save, so that nothing else tells.
/// Then everything is fetched, and what the cloud lacks is made there again.
struct SaveEcho: TransactionPart {
  let transaction: SyncTransaction

  /// How often a fetch of everything may find what a feed had not brought, before a feed is taken for one without a
  /// device's own saves.
  private static let patience: Int64 = 3

  /// What separates a tag from a name.
  private static let separator: Character = "\n"

  /// Notes a save that was answered, and of which no page has told.
  func note(_ recordID: RecordID, tag: String) throws(SQLiteError) {
    try facts.set(.unechoedSave, to: .text("\(tag)\(Self.separator)\(recordID.name)"))
  }

  /// Takes what a page tells, before its rows are.
  func take(_ page: FetchOperation.Response) throws(SQLiteError) {
    guard let save = try unseenSave() else { return }
    let isSame = { (recordID: RecordID) in UTF8Bytes.equal(recordID.name, save.name) }
    guard let record = page.changedRecords.first(where: { isSame($0.recordID) }) else {
      if page.deletedRecordIDs.contains(where: isSame) { try end() }
      return
    }
    let isAsSaved = UTF8Bytes.equal(record.changeTag, save.tag)
    if isAsSaved, try facts.value(.missingSave) != nil {
      try facts.set(.foundSaves, to: .integer((try facts.integer(.foundSaves) ?? 0) + 1))
    }
    try end()
    // Somebody has changed it since, unless the cloud has an older one again.
    if !isAsSaved, try isBehind(record, tag: save.tag) { try fetchEverything() }
  }

  /// Takes that a fetch is coming to its end, before what it has not told of is.
  func takeEnd() throws(SQLiteError) {
    if try transaction.isFetchingAll() { return try takeEndOfEverything() }
    if try facts.value(.missingSave) != nil {
      if try transaction.isFetchAllAsked() == false { try facts.set(.missingSave, to: nil) }
      return
    }
    guard let save = try facts.value(.unechoedSave) else { return }
    try end()
    if try facts.integer(.foundSaves) ?? 0 >= Self.patience { return }
    try facts.set(.missingSave, to: save)
    try fetchEverything()
  }

  /// Has what a fetch of everything has not told of made again, where that would go otherwise.
  private func takeEndOfEverything() throws(SQLiteError) {
    guard try facts.value(.unechoedSave) != nil else { return try end() }
    try end()
    let mode = try transaction.fullFetch()
    guard mode == .sweeps || mode == .rebuilds else { return }
    try facts.set(.fullFetch, to: .integer(FullFetch.restores.rawValue))
  }

  /// Forgets what was saved: it has come, or the zone is another one.
  func end() throws(SQLiteError) {
    for fact in [Facts.Name.unechoedSave, .missingSave] where try facts.value(fact) != nil {
      try facts.set(fact, to: nil)
    }
  }

  private func fetchEverything() throws(SQLiteError) {
    if try transaction.isFetchAllAsked() { return }
    try facts.set(.fetchAll, to: .integer(FullFetch.restores.rawValue))
  }

  /// The save of which nothing has told yet.
  private func unseenSave() throws(SQLiteError) -> (tag: String, name: String)? {
    var value = try facts.value(.unechoedSave)
    if value == nil { value = try facts.value(.missingSave) }
    guard case .text(let text)? = value else { return nil }
    let parts = text.split(separator: Self.separator, maxSplits: 1)
    return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
  }

  /// Whether a record lacks an edit that was saved.
  private func isBehind(_ record: Record, tag: String) throws(SQLiteError) -> Bool {
    guard let (place, key) = tables.place(ofRecord: record.recordID.name),
      let known = try row(key, in: place).state.known, UTF8Bytes.equal(known.tag, tag)
    else { return false }
    do throws(CodedError) {
      guard let version = try tables[place].format.version(of: record) else { return false }
      return version.clock.isBehind(known.clock, deletes: tables[place].rules.deletes)
    } catch { return false }
  }
}

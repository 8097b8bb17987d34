import CloudSyncCore
import CloudSyncSQLiteSupport

/// Whether the feed has told of what answers have: of this device's last saves, and of records that saves have met.
///
/// A feed brings a device's own saves too. If a fetch ends that began after a save was answered, and has not brought
/// it, the cloud has lost it: a backup was restored. The token may be from before the save, so that nothing else tells.
/// Then everything is fetched, and what the cloud lacks is made there again.
struct SaveEcho: TransactionPart {
  /// A record as an answer has told of it.
  private typealias Answered = (tag: String, name: String)

  let transaction: SyncTransaction

  /// How often a fetch of everything may find what a feed had not brought, before a feed is taken for one without a
  /// device's own saves.
  private static let patience: Int64 = 3
  /// Of how many records it is remembered that an answer has told of them: the last ones prove what was before them.
  private static let limit = 8
  /// What separates a tag from a name, and the name from the next tag: no text of CloudKit's has it.
  private static let separator: Character = "\u{1F}"

  /// Notes a record that an answer has told of, and no page.
  func note(_ recordID: RecordID, tag: String) throws(SQLiteError) {
    let others = try records(of: .unechoedSave).filter { !UTF8Bytes.equal($0.name, recordID.name) }
    let all = others.suffix(Self.limit - 1) + [(tag, recordID.name)]
    try facts.set(.unechoedSave, to: Self.text(of: all))
  }

  /// Notes a record that a save has met, before it is taken, unless it is known as it is.
  func note(met record: Record) throws(SQLiteError) {
    guard let tag = record.changeTag, !ZoneRecord.isName(record.recordID.name),
      let (place, key) = tables.place(ofRecord: record.recordID.name),
      try UTF8Bytes.equal(row(key, in: place).state.known?.tag, tag) == false
    else { return }
    try note(record.recordID, tag: tag)
  }

  /// Takes what a page tells, before its rows are.
  func take(_ page: FetchOperation.Response) throws(SQLiteError) {
    for fact in [Facts.Name.unechoedSave, .missingSave] {
      let all = try records(of: fact)
      if all.isEmpty { continue }
      var left: [Answered] = []
      for answered in all where try isToldOf(answered, by: page, of: fact) == false {
        left.append(answered)
      }
      if left.count < all.count { try facts.set(fact, to: Self.text(of: left)) }
    }
  }

  /// Whether a page tells of a record; one that is older than what was answered is lost.
  private func isToldOf(
    _ answered: Answered,
    by page: FetchOperation.Response,
    of fact: Facts.Name
  ) throws(SQLiteError) -> Bool {
    let isSame = { (recordID: RecordID) in UTF8Bytes.equal(recordID.name, answered.name) }
    guard let record = page.changedRecords.first(where: { isSame($0.recordID) }) else {
      return page.deletedRecordIDs.contains(where: isSame)
    }
    if !UTF8Bytes.equal(record.changeTag, answered.tag) {
      // Somebody has changed it since, unless the cloud has an older one again.
      if try isBehind(record, tag: answered.tag) { try fetchEverything() }
    } else if fact == .missingSave {
      try facts.set(.foundSaves, to: .integer((try facts.integer(.foundSaves) ?? 0) + 1))
    }
    return true
  }

  /// Takes that a fetch is coming to its end, before what it has not told of is.
  func takeEnd() throws(SQLiteError) {
    if try transaction.isFetchingAll() { return try takeEndOfEverything() }
    if try facts.value(.missingSave) != nil {
      if try transaction.isFetchAllAsked() == false { try facts.set(.missingSave, to: nil) }
      return
    }
    let last = try records(of: .unechoedSave).suffix(1)
    if last.isEmpty { return }
    try end()
    if try facts.integer(.foundSaves) ?? 0 >= Self.patience { return }
    try facts.set(.missingSave, to: Self.text(of: last))
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

  /// Forgets what was answered: it has come, or the zone is another one.
  func end() throws(SQLiteError) {
    for fact in [Facts.Name.unechoedSave, .missingSave] where try facts.value(fact) != nil {
      try facts.set(fact, to: nil)
    }
  }

  private func fetchEverything() throws(SQLiteError) {
    if try transaction.isFetchAllAsked() { return }
    try facts.set(.fetchAll, to: .integer(FullFetch.restores.rawValue))
  }

  private func records(of fact: Facts.Name) throws(SQLiteError) -> [Answered] {
    guard case .text(let text)? = try facts.value(fact) else { return [] }
    let parts = text.split(separator: Self.separator, omittingEmptySubsequences: false)
      .map(String.init)
    return stride(from: 0, to: parts.count - 1, by: 2).map { (parts[$0], parts[$0 + 1]) }
  }

  private static func text(of records: some Collection<Answered>) -> SQLiteValue? {
    if records.isEmpty { return nil }
    let texts = records.map { "\($0.tag)\(separator)\($0.name)" }
    return .text(texts.joined(separator: "\(separator)"))
  }

  /// Whether a record lacks an edit that was answered.
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

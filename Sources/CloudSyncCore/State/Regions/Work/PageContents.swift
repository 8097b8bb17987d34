/// What a page tells, by record: it is newer than what was answered before.
struct PageContents {
  private var changes: [RecordID: ParkedChange] = [:]

  init(_ page: FetchOperation.Response) {
    for record in page.changedRecords { changes[record.recordID] = .alreadyInCloud(record) }
    for recordID in page.deletedRecordIDs { changes[recordID] = .deleted(recordID) }
    // A look-up says so that the cloud does not have a record.
    for failure in page.failures where failure.error.code == .unknownItem {
      changes[failure.recordID] = .deleted(failure.recordID)
    }
  }

  /// What a fetch of everything tells of records by naming them in no page.
  init(gone recordIDs: [RecordID]) {
    for recordID in recordIDs { changes[recordID] = .deleted(recordID) }
  }

  /// What became of a record since it was answered; nil if nothing else is told.
  func newer(than answered: ParkedChange) -> ParkedChange? {
    guard let told = changes[answered.recordID] else { return nil }
    switch (answered, told) {
    // The page has what was saved, and nothing of anybody else's.
    case (.saved(let known), .alreadyInCloud(let record)),
      (.alreadyInCloud(let known), .alreadyInCloud(let record)):
      return Self.areSame(known, record) ? nil : told
    case (.saved, _), (.alreadyInCloud, _), (.deleted, .alreadyInCloud): return told
    case (.deleted, _), (.refused, _), (.dropped, _): return nil
    }
  }

  /// Whether something else became of a record since it was answered.
  func overtakes(_ answered: ParkedChange) -> Bool { newer(than: answered) != nil }

  /// What is known of a record that was answered.
  func present(_ answered: ParkedChange) -> ParkedChange { newer(than: answered) ?? answered }

  /// Whether two records are one version of the cloud's.
  private static func areSame(_ one: Record, _ other: Record) -> Bool {
    UTF8Bytes.equal(one.changeTag, other.changeTag)
  }
}

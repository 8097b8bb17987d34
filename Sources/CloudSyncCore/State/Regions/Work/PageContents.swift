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

  /// What became of a record since; what was answered, if the page tells nothing else.
  func present(_ answered: ParkedChange) -> ParkedChange {
    guard let newer = changes[answered.recordID] else { return answered }
    switch (answered, newer) {
    // The page has what was saved, and nothing of anybody else's.
    case (.saved(let saved), .alreadyInCloud(let record)) where Self.areSame(saved, record):
      return answered
    case (.saved, _), (.alreadyInCloud, _), (.deleted, .alreadyInCloud): return newer
    case (.deleted, _), (.refused, _), (.dropped, _): return answered
    }
  }

  /// Whether a page tells something else than was answered.
  func overtakes(_ answered: ParkedChange) -> Bool {
    switch (answered, present(answered)) {
    case (.saved, .saved), (.deleted, .deleted), (.refused, _), (.dropped, _): false
    case (.alreadyInCloud(let old), .alreadyInCloud(let new)): !Self.areSame(old, new)
    default: true
    }
  }

  /// Whether two records are one version of the cloud's.
  private static func areSame(_ one: Record, _ other: Record) -> Bool {
    UTF8Bytes.equal(one.changeTag, other.changeTag)
  }
}

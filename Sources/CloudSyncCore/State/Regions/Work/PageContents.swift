/// What a page tells, by record: it is newer than what was answered before.
struct PageContents {
  private var changes: [RecordID: ParkedChange] = [:]

  init(_ page: FetchOperation.Response) {
    for record in page.changedRecords { changes[record.recordID] = .alreadyInCloud(record) }
    for deleted in page.deletedRecords { changes[deleted.recordID] = .deleted(deleted.recordID) }
  }

  /// What became of a record since; what was answered, if the page tells nothing else.
  func present(_ answered: ParkedChange) -> ParkedChange {
    guard let newer = changes[answered.recordID] else { return answered }
    switch (answered, newer) {
    // The page has what was saved, and nothing of anybody else's.
    case (.saved(let saved), .alreadyInCloud(let record)) where saved.changeTag == record.changeTag:
      return answered
    case (.saved, _), (.alreadyInCloud, _), (.deleted, .alreadyInCloud): return newer
    case (.deleted, _), (.refused, _), (.dropped, _): return answered
    }
  }

  /// Whether a page tells something else than was answered.
  func overtakes(_ answered: ParkedChange) -> Bool {
    switch (answered, present(answered)) {
    case (.saved, .saved), (.deleted, .deleted), (.refused, _), (.dropped, _): false
    case (.alreadyInCloud(let old), .alreadyInCloud(let new)): old.changeTag != new.changeTag
    default: true
    }
  }
}

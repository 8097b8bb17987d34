import CloudSyncCore

/// What one operation carries.
struct SentBatch: Sendable {
  var rows: [SentRow] = []
  /// Rows that nobody knew, sent as they were found.
  var found: [FoundRow] = []
  /// Records that no table here can hold, which a lost zone needs again.
  var foreign: [Record] = []
  var zone: ZoneRecord?
  /// Records that are deleted themselves.
  var removals: [SentRemoval] = []
  /// How often the zone had turned out to be another one when it was made.
  var zoneChanges: Int64 = 0
  /// The names of the records that were told to be gone since they were sent: an operation of which a part is repeated
  /// is answered as a whole, so what the answer says of them may be older.
  private(set) var overtaken: Set<String> = []

  var count: Int {
    rows.count + found.count + foreign.count + removals.count + (zone == nil ? 0 : 1)
  }
  var isEmpty: Bool { count == 0 }

  /// The names of the records, but for the zone's own.
  var names: [String] {
    rows.map(\.key.name) + found.map(\.key.name) + foreign.map(\.recordID.name)
      + removals.map(\.key.name)
  }

  /// Notes what a page, or the answer to a look-up, tells to be gone.
  ///
  /// A fetch that begins anew tells of absence by saying nothing.
  mutating func overtake(by page: FetchOperation.Response) {
    let missing = page.failures.filter { $0.error.code == .unknownItem }.map(\.recordID.name)
    let gone = Set(page.deletedRecordIDs.map(\.name) + missing)
    if gone.isEmpty, !page.isBeginning { return }
    overtaken.formUnion(names.filter { page.isBeginning || gone.contains($0) })
  }

  /// What an answer tells that is no older than the pages since: nothing of a record that was there before it was told to
  /// be gone.
  ///
  /// Should the record be there all the same, the next save meets it.
  func upToDate(_ response: ModifyOperation.Response) -> ModifyOperation.Response {
    var response = response
    if overtaken.isEmpty { return response }
    response.savedRecords.removeAll { overtaken.contains($0.recordID.name) }
    response.alreadyInCloud.removeAll { overtaken.contains($0.recordID.name) }
    response.failures.removeAll {
      overtaken.contains($0.recordID.name) && $0.error.serverRecord != nil
    }
    return response
  }

  func records(in zoneID: ZoneID) -> [Record] {
    rows.map(\.record) + found.map(\.record) + foreign
      + (zone.map { [$0.record(in: zoneID)] } ?? [])
  }
}

/// A row on its way: what was sent of it, to know what the cloud has when it is saved.
struct SentRow: Sendable {
  /// The place of its table.
  let table: Int
  let key: RecordKey
  let version: RecordVersion
  let record: Record
}

/// A row of which nothing is known that was sent as it was found.
struct FoundRow: Sendable {
  /// The place of its table.
  let table: Int
  let key: RecordKey
  let record: Record
  /// What is known of it when it is saved, but for the tag.
  let known: KnownRow
}

/// A record that is deleted itself, on its way.
struct SentRemoval: Sendable {
  /// The place of its row's table.
  let table: Int
  let key: RecordKey
  /// The tag of what the cloud was known to have.
  let tag: String?

  init(of row: LoadedRow) {
    table = row.place
    key = row.key
    tag = row.state.known?.tag
  }
}

import CloudSyncCore

/// What the app of a script submitted, and what became of it.
struct ScriptLedger: Sendable {
  /// One edit of one record, in the order in which edits were made.
  struct Edit: Sendable {
    enum Change: Sendable, Equatable {
      case save([String: Int?])
      case delete
    }

    let version: Int
    let ticket: Int
    let record: String
    let change: Change
    /// The revision of the server's record that the app made it from.
    var base: Int
    /// Whether the app was told that it is not done and will not be.
    var isGivenUp = false
    /// Whether the app was told that it is parked.
    var isParked = false
    /// Whether a request with it was carried out, or was found to be in the cloud.
    var isDone = false
  }

  enum Outcome: Sendable, Hashable {
    case completed(ModifyOperation.Response)
    case failed(SyncError)
    case fetched(FetchOperation.Response)
  }

  /// One submitted operation.
  struct Entry: Sendable {
    let ticket: Int
    let isFetch: Bool
    let records: [String]
    let hasCheckpoint: Bool
    var id = OperationID.unassigned
    let process: Int
    var outcome: Outcome?
    /// The process in which it ended last.
    var endedIn: Int?
    /// How often its own completion was called.
    var closureCalls = 0
    /// Calls that were made since, and may end it.
    var mayFail: Set<SyncError.Code> = []
    /// A crash took it before the session had stored it.
    var isLost = false
  }

  var entries: [Entry] = []
  var edits: [Edit] = []
  private var tickets: [OperationID: Int] = [:]
  /// The newest version of each field that is, or was, in the cloud.
  var reached: [String: Int] = [:]
  /// Conflict decisions: the newest server revision that was seen with a version.
  var decided: [Int: Int] = [:]
  /// Records of which the script cannot tell what the cloud must hold in the end.
  var tainted: Set<String> = []
  /// How many requests have carried a record's edits.
  var requests: [String: Int] = [:]

  mutating func add(isFetch: Bool, records: [String], hasCheckpoint: Bool, process: Int) -> Int {
    let ticket = entries.count
    entries.append(
      Entry(
        ticket: ticket,
        isFetch: isFetch,
        records: records,
        hasCheckpoint: hasCheckpoint,
        process: process
      )
    )
    return ticket
  }

  mutating func name(_ ticket: Int, _ id: OperationID) {
    entries[ticket].id = id
    tickets[id] = ticket
  }

  func ticket(of id: OperationID) -> Int? { tickets[id] }

  func ticket(numbered number: UInt64) -> Int? {
    entries.last { $0.id.number == number && !$0.isLost }?.ticket
  }

  /// Notes a call that may end everything submitted until now.
  mutating func mayFail(_ code: SyncError.Code) {
    for index in entries.indices { entries[index].mayFail.insert(code) }
  }

  /// Strikes out what a crash took before it was stored.
  mutating func loseUnstored(from number: UInt64) {
    for index in entries.indices where entries[index].id.number >= number {
      entries[index].isLost = true
      tickets[entries[index].id] = nil
    }
    edits.removeAll { entries[$0.ticket].isLost }
  }

  // MARK: Edits

  func edit(version: Int) -> Edit? { edits.first { $0.version == version } }

  func edit(ticket: Int, record: String) -> Edit? {
    edits.first { $0.ticket == ticket && $0.record == record }
  }

  private mutating func change(ticket: Int, record: String, _ body: (inout Edit) -> Void) {
    for index in edits.indices where edits[index].ticket == ticket {
      if edits[index].record == record { body(&edits[index]) }
    }
  }

  mutating func markDone(ticket: Int, record: String) {
    change(ticket: ticket, record: record) { $0.isDone = true }
  }

  mutating func markParked(ticket: Int, record: String) {
    change(ticket: ticket, record: record) { $0.isParked = true }
  }

  mutating func markGivenUp(ticket: Int, record: String) {
    change(ticket: ticket, record: record) { $0.isGivenUp = true }
  }

  /// Notes that everything of a record that was parked is in the cloud.
  mutating func unpark(_ record: String) {
    for index in edits.indices where edits[index].record == record && edits[index].isParked {
      edits[index].isParked = false
      edits[index].isDone = true
    }
  }

  /// Gives up everything of a record that is parked.
  mutating func dropParked(_ record: String) {
    for index in edits.indices where edits[index].record == record && edits[index].isParked {
      edits[index].isParked = false
      edits[index].isGivenUp = true
    }
    tainted.insert(record)
  }

  /// Notes that the fields of an edit are in the cloud, or were.
  mutating func reach(_ record: String, _ fields: [RecordField]) {
    for field in fields {
      guard let version = field.value.int64Value.map(Int.init), version < 1_000_000 else {
        continue
      }
      let key = "\(record).\(field.name)"
      reached[key] = max(reached[key] ?? 0, version)
    }
  }

  /// Whether the app's own fields of an edit are in the cloud, or newer ones.
  func isInCloud(_ edit: Edit) -> Bool {
    if edit.isDone { return true }
    guard case .save(let fields) = edit.change else { return false }
    return fields.allSatisfy { name, version in
      guard let version else { return false }
      return reached["\(edit.record).\(name)"] ?? 0 >= version
    }
  }

  /// What the cloud must hold of a record's own fields, if everything is done in order.
  func expectation(_ record: String) -> [String: Int] {
    var fields: [String: Int] = [:]
    for edit in edits where edit.record == record && !edit.isGivenUp {
      switch edit.change {
      case .delete: fields = [:]
      case .save(let changes):
        for (name, version) in changes { fields[name] = version }
      }
    }
    return fields
  }
}

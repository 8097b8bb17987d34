import CloudSyncCore
import CloudSyncSQLiteSupport

/// A fetch of everything: which records it has told about, and what becomes of the others.
struct FetchOfEverything: TransactionPart {
  let transaction: SyncTransaction

  /// Takes that a fetch of everything begins, or begins again: what it tells about from now on is noted.
  func beginFullFetch() throws(SQLiteError) {
    try stored.seen.removeAll()
    // Everything is told about again.
    try stored.unfetched.removeAll()
    try facts.set(.shownZone, to: nil)
    let asked = try facts.value(.fetchAll)
    try beginFullFetch(asked: asked.flatMap { FullFetch($0) })
    try facts.set(.fetchAll, to: nil)
    transaction.fetchesAll = true
  }

  private func beginFullFetch(asked: FullFetch?) throws(SQLiteError) {
    var present = try transaction.fullFetch()
    if present == .erases { present = .revives }
    if present?.isKept == true { return try set(mode: present) }
    var mode = asked ?? present ?? .sweeps
    // What was asked for counts, also where somebody has asked since for no more than that everything is fetched.
    if mode == .sweeps, let present, present.hasPurpose { mode = present }
    if mode != .sweeps, mode != .adopts { return try set(mode: mode) }
    if try isNothingKnown() { return try set(mode: .adopts) }
    let isSure = try isZoneSure()
    try set(mode: isSure ? .sweeps : .revives)
  }

  private func set(mode: FullFetch?) throws(SQLiteError) {
    try facts.set(.fullFetch, to: mode.map { .integer($0.rawValue) })
  }

  /// Whether it is sure of which zone the rows are that are known to be in the cloud.
  ///
  /// If nobody has told, they may be of a zone before this one. So they may if an answer has: it tells of the zone
  /// there was by then. The next page confirms it, unless the token is not good any more.
  private func isZoneSure() throws(SQLiteError) -> Bool {
    if try facts.value(.zone) == nil { return false }
    return try facts.value(.unconfirmedZone) == nil
  }

  /// Notes that a page has continued from what is known: then it is of the zone that is known.
  func confirmZone() throws(SQLiteError) {
    if try facts.value(.unconfirmedZone) != nil { try facts.set(.unconfirmedZone, to: nil) }
  }

  /// Whether the cloud is not known to have any row, and no zone was seen: what was edited before the first fetch is of no
  /// zone yet.
  private func isNothingKnown() throws(SQLiteError) -> Bool {
    guard try facts.value(.zone) == nil, try stored.known.isEmpty() else { return false }
    return try stored.pending.isAnyInCloud() == false
  }

  /// Takes the end of a fetch of everything.
  ///
  /// What it has not told about is gone, if it was of the zone that is known: else it says nothing of that.
  func endFullFetch() throws(SQLiteError) {
    let zone = try facts.value(.zone)
    let shown = try facts.value(.shownZone)
    let isOfKnownZone = zone != nil && shown == zone
    let mode = try transaction.fullFetch()
    try settleLeftTables()
    if mode == .erases {
      try eraseUnseen()
    } else if mode?.isKept == true || zone != nil && shown == nil {
      // A zone without the record is another one than any that had it.
      try facts.set(.zone, to: shown)
      try replaceZone()
    } else if mode == .restores {
      try reduceUnseen(.zoneReplaced)
    } else if isOfKnownZone, mode != .adopts {
      try reduceUnseen(.vanished)
    }
    try confirmZone()
    try stored.seen.removeAll()
    try set(mode: nil)
    transaction.fetchesAll = false
    try facts.noteEverythingFetched()
  }

  /// Takes that the zone is another one than what is known is of: nothing that was acknowledged counts, but for
  /// what this fetch has told about, which is of the new one already.
  func replaceZone() throws(SQLiteError) {
    try noteZoneChange(isErasure: false)
    try reduceUnseen(.zoneReplaced)
    try stored.foreign.markUnsent()
  }

  /// Notes that answers to what was sent before are of another zone, and so is what is known of tables that this engine
  /// leaves out.
  func noteZoneChange(isErasure: Bool) throws(SQLiteError) {
    try facts.set(.zoneChanges, to: .integer(try transaction.zoneChanges() + 1))
    let own = tables.inOrder.map(\.id)
    let others = try TableRegistry(connection: connection).tables().map(\.id)
    try facts.noteZoneLoss(
      ofLeftOut: others.filter { !own.contains($0) },
      isErasure: isErasure
    )
  }

  private func reduceUnseen(_ event: RecordEvent) throws(SQLiteError) {
    for place in tables.inOrder.indices { try reduceUnseen(event, in: place) }
  }

  private func reduceUnseen(_ event: RecordEvent, in place: Int) throws(SQLiteError) {
    let keys = try stored.seen.unseen(in: tables[place].id, countsAnswers: event == .vanished)
    let unseen = UnseenEdits(transaction: transaction)
    for rowKey in keys {
      let key = try tables[place].key(rowKey)
      if event == .zoneReplaced { try unseen.takeUntold(of: key, in: place) }
      try reduce(event, of: key, in: place)
    }
  }

  /// Takes for tables that were left out what became of their zone meanwhile: that this one does not have their rows says
  /// nothing.
  private func settleLeftTables() throws(SQLiteError) {
    let (lost, erased) = (
      try facts.leftTables(isErasure: false), try facts.leftTables(isErasure: true)
    )
    for place in tables.inOrder.indices {
      if lost.contains(tables[place].id) { try reduceUnseen(.zoneReplaced, in: place) }
      if erased.contains(tables[place].id) { try eraseUnseen(in: place) }
    }
    try facts.endZoneLoss(ofLeftOut: tables.inOrder.map(\.id))
  }

  // MARK: Which zone it is

  /// Takes from an answer which incarnation of the zone it is.
  func takeAnswer(_ zone: ZoneRecord) throws(SQLiteError) {
    if try facts.value(.zone) == nil { try facts.set(.unconfirmedZone, to: .integer(1)) }
    try take(zone)
  }

  /// Takes the record that tells which incarnation of the zone it is.
  func take(_ zone: ZoneRecord) throws(SQLiteError) {
    let incarnation = SQLiteValue.integer(zone.incarnation)
    if try transaction.isFetchingAll() {
      try facts.set(.shownZone, to: incarnation)
    }
    // The zone has a record: the erasure is told, or somebody was ahead of it. The answer to its save may be lost.
    try facts.set(.erases, to: nil)
    let known = try facts.value(.zone)
    if zone.erases, try transaction.fullFetch() == .revives { try set(mode: .erases) }
    if known == incarnation { return }
    try facts.set(.zone, to: incarnation)
    // Whatever was known before anybody told is of this one.
    if known == nil { return }
    if zone.erases { try eraseUnseen() } else { try replaceZone() }
  }

  /// Deletes the rows that belonged to a zone whose rows were erased on purpose.
  private func eraseUnseen() throws(SQLiteError) {
    try noteZoneChange(isErasure: true)
    for place in tables.inOrder.indices { try eraseUnseen(in: place) }
    try stored.foreign.removeAll()
  }

  private func eraseUnseen(in place: Int) throws(SQLiteError) {
    let keys = try stored.seen.unseen(in: tables[place].id)
    for rowKey in keys {
      let row = try row(try tables[place].key(rowKey), in: place)
      // What was never in it stays.
      guard row.state.known != nil else { continue }
      keep(row.forgotten)
    }
  }
}

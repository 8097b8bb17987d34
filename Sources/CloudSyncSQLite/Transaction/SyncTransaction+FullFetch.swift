import CloudSyncCore
import CloudSyncSQLiteSupport

/// What becomes of rows that a fetch of everything has not told about.
enum FullFetch: Int64, Sendable {
  /// They are gone from the cloud, and go here unless they are edited.
  case sweeps = 1
  /// They are made in the cloud again.
  case uploads
  /// They go, and rows that were changed unseen become what the cloud has.
  case rebuilds
  /// It is the first one: nothing is known that it might not tell about.
  case adopts
  /// They may be of a zone before this one, since it is not sure which zone is known: they are made again, too.
  case revives
  /// So they may, and the zone says that the rows of the one before were erased on purpose: they go.
  case erases

  /// Whether it stays what it is when the fetch begins again: the zone that it has shown is known by then.
  fileprivate var isKept: Bool { self == .uploads || self == .revives }
}

extension FullFetch {
  /// What is stored of it; nil if that is nothing known.
  fileprivate init?(_ value: SQLiteValue) {
    guard case .integer(let number) = value else { return nil }
    self.init(rawValue: number)
  }
}

extension SyncTransaction {
  /// Whether a fetch of everything is under way.
  mutating func isFetchingAll() throws(SQLiteError) -> Bool {
    if let fetchesAll { return fetchesAll }
    let isUnderWay = try facts.value(.fullFetch) != nil
    fetchesAll = isUnderWay
    return isUnderWay
  }

  /// Takes that a fetch of everything begins, or begins again: what it tells about from now on is noted.
  mutating func beginFullFetch() throws(SQLiteError) {
    try SeenRows(connection: connection).removeAll()
    // Everything is told about again.
    try UnfetchedRecords(connection: connection).removeAll()
    try facts.set(.shownZone, nil)
    let asked = try facts.value(.fetchAll)
    try beginFullFetch(asked: asked.flatMap { FullFetch($0) })
    try facts.set(.fetchAll, nil)
    fetchesAll = true
  }

  private func beginFullFetch(asked: FullFetch?) throws(SQLiteError) {
    var present = try fullFetch()
    if present == .erases { present = .revives }
    if present?.isKept == true { return try set(present) }
    let mode = asked ?? present ?? .sweeps
    if mode != .sweeps, mode != .adopts { return try set(mode) }
    if try isNothingKnown() { return try set(.adopts) }
    let isSure = try isZoneSure()
    try set(isSure ? .sweeps : .revives)
  }

  /// What the fetch of everything that is under way is for; nil if there is none.
  func fullFetch() throws(SQLiteError) -> FullFetch? {
    try facts.value(.fullFetch).flatMap { FullFetch($0) }
  }

  private func set(_ mode: FullFetch?) throws(SQLiteError) {
    try facts.set(.fullFetch, mode.map { .integer($0.rawValue) })
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
    if try facts.value(.unconfirmedZone) != nil { try facts.set(.unconfirmedZone, nil) }
  }

  /// Whether no row was ever fetched or sent, and no zone was seen.
  private func isNothingKnown() throws(SQLiteError) -> Bool {
    guard try facts.value(.zone) == nil, try PendingRows(connection: connection).isEmpty() else {
      return false
    }
    return try KnownRows(connection: connection).isEmpty()
  }

  /// Whether a fetch of everything is under way that notes what it has told about.
  mutating func isNotingSeenRows() throws(SQLiteError) -> Bool {
    if isBesideToken { return false }
    if let notesSeen { return notesSeen }
    let mode = try fullFetch()
    let isNoting = mode != nil && mode != .adopts
    notesSeen = isNoting
    return isNoting
  }

  /// Takes the end of a fetch of everything.
  ///
  /// What it has not told about is gone, if it was of the zone that is known: else it says nothing of that.
  mutating func endFullFetch() throws(SQLiteError) {
    let zone = try facts.value(.zone)
    let shown = try facts.value(.shownZone)
    let isOfKnownZone = zone != nil && shown == zone
    let mode = try fullFetch()
    if mode == .erases {
      try eraseUnseen()
    } else if mode?.isKept == true || zone != nil && shown == nil {
      // A zone without the record is another one than any that had it.
      try facts.set(.zone, shown)
      try replaceZone()
    } else if isOfKnownZone, mode != .adopts {
      try reduceUnseen(.vanished)
    }
    try confirmZone()
    try SeenRows(connection: connection).removeAll()
    try set(nil)
    fetchesAll = false
    try Reconciliation(connection: connection).noteFetched()
  }

  /// Takes that the zone is another one than what is known is of: nothing that was acknowledged counts, but for
  /// what this fetch has told about, which is of the new one already.
  mutating func replaceZone() throws(SQLiteError) {
    try noteZoneChange()
    try reduceUnseen(.zoneReplaced)
    try ForeignRecords(connection: connection).markUnsent()
  }

  /// Notes that answers to what was sent before are of another zone.
  func noteZoneChange() throws(SQLiteError) {
    try facts.set(.zoneChanges, .integer(try zoneChanges() + 1))
  }

  private mutating func reduceUnseen(_ event: RecordEvent) throws(SQLiteError) {
    for place in tables.inOrder.indices {
      let keys = try SeenRows(connection: connection).unseen(in: tables[place].id)
      for key in keys { try reduce(event, try tables[place].key(key), in: place) }
    }
  }

  // MARK: Which zone it is

  /// Takes from an answer which incarnation of the zone it is.
  mutating func takeAnswer(_ zone: ZoneRecord) throws(SQLiteError) {
    if try facts.value(.zone) == nil { try facts.set(.unconfirmedZone, .integer(1)) }
    try take(zone)
  }

  /// Takes the record that tells which incarnation of the zone it is.
  mutating func take(_ zone: ZoneRecord) throws(SQLiteError) {
    let incarnation = SQLiteValue.integer(zone.incarnation)
    if !isBesideToken, try isFetchingAll() { try facts.set(.shownZone, incarnation) }
    // The zone has a record: the erasure is told, or somebody was ahead of it. The answer to its save may be lost.
    try facts.set(.erases, nil)
    let known = try facts.value(.zone)
    if zone.erases, try fullFetch() == .revives { try set(.erases) }
    if known == incarnation { return }
    try facts.set(.zone, incarnation)
    // Whatever was known before anybody told is of this one.
    if known == nil { return }
    if zone.erases { try eraseUnseen() } else { try replaceZone() }
  }

  /// Deletes the rows that belonged to a zone whose rows were erased on purpose.
  private mutating func eraseUnseen() throws(SQLiteError) {
    try noteZoneChange()
    for place in tables.inOrder.indices {
      let keys = try SeenRows(connection: connection).unseen(in: tables[place].id)
      for rowKey in keys {
        let row = try row(try tables[place].key(rowKey), in: place)
        // What was never in it stays.
        guard row.state.known != nil else { continue }
        keep(row.forgotten)
      }
    }
    try ForeignRecords(connection: connection).removeAll()
  }
}

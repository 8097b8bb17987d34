/// What is set aside: the parked entries, and what is on its way back from there.
///
/// Entries are found by record, in the order in which they were parked, by what they wait for, and by
/// the time of their next probe. Only ``park(_:)`` and ``unpark(_:)`` change them, so that all of
/// these agree.
package struct ParkedRegion: Sendable {
  /// Parked entries by record.
  package private(set) var entries = PersistentMap<RecordID, ParkedEntry>()
  /// The records in the order in which they were parked.
  private var order = PersistentSortedMap<UInt64, RecordID>()
  /// Those that wait for storage.
  private var waitingForQuota = PersistentSortedMap<UInt64, RecordID>()
  /// Those that wait until any parked record is saved.
  private var waitingForAny = PersistentSortedMap<UInt64, RecordID>()
  /// Those that refer to a record, by that record.
  private var dependents = PersistentMap<RecordID, Dependents>()
  /// Those that are tried again by themselves, by the time of it.
  private var probes = PersistentSortedMap<ProbeTime, RecordID>()
  /// When the first of them is tried again.
  package private(set) var nextProbe: Deadline?
  /// When the latest of them was parked: a clock that shows less has been set back.
  package private(set) var probesSetAt: Timestamp?

  /// Entries to be sent again: they go before everything that is queued.
  package var returning = PersistentQueue<PendingChange>()
  /// The number of the next entry to be parked.
  package var next: UInt64 = 1
  /// How many records were refused since one was saved.
  package var inRow = 0
  /// When storage is probed again; saves are parked unsent until then.
  package var quota: Deadline?
  /// The record that is sent as a probe of the storage, while it is on its way.
  package var probe: RecordID?

  package init() {}

  /// All parked entries in the order in which they were parked.
  package var inOrder: [ParkedEntry] { entries(of: order) }

  /// All parked records in that order; of thousands the entries are better read one by one.
  package var records: [RecordID] { order.values }

  /// The entry that was parked last.
  package var last: ParkedEntry? { order.last.flatMap { entries[$0.value] } }

  /// The records that wait for storage, in the order in which they were parked.
  package var recordsForQuota: [RecordID] { waitingForQuota.values }

  /// The first of the entries that wait for storage.
  package var firstForQuota: ParkedEntry? { waitingForQuota.first.flatMap { entries[$0.value] } }

  /// Whether any entry was refused because of another record.
  @inline(__always)
  package var hasDependents: Bool { !dependents.isEmpty || !waitingForAny.isEmpty }

  /// The records that may be saved now that one is.
  ///
  /// - Parameters:
  ///   - recordID: The record that was saved.
  ///   - wasParked: Whether it had been parked: then those return as well that refer to no parked
  ///     record, because nobody knows what they wait for.
  /// - Returns: The records in the order in which they were parked.
  package func dependents(of recordID: RecordID, wasParked: Bool) -> [RecordID] {
    let dependents = dependents[recordID]
    guard wasParked, !waitingForAny.isEmpty else { return dependents?.records ?? [] }
    guard var all = dependents?.several else { return waitingForAny.values }
    for (number, recordID) in waitingForAny.entries { all[number] = recordID }
    return all.values
  }

  /// The entry whose time to be tried again came first, if it has come.
  package func firstDue(at now: Timestamp) -> ParkedEntry? {
    isProbeDue(at: now) ? probes.first.flatMap { entries[$0.value] } : nil
  }

  /// Whether entries are to be tried again whose error may have passed.
  @inline(__always)
  package func isProbeDue(at now: Timestamp) -> Bool {
    nextProbe.map { $0.end(at: now) <= now } ?? false
  }

  /// All records that are tried again by themselves, in the order of their times.
  package var timed: [RecordID] { probes.values }

  private func entries(of map: PersistentSortedMap<UInt64, RecordID>) -> [ParkedEntry] {
    map.values.compactMap { entries[$0] }
  }

  /// Sets an entry aside; its record must not be parked already.
  package mutating func park(_ parkedEntry: ParkedEntry) {
    let recordID = parkedEntry.entry.recordID
    let number = parkedEntry.number
    entries[recordID] = parkedEntry
    order[number] = recordID
    if parkedEntry.isQuota { waitingForQuota[number] = recordID }
    if parkedEntry.waitsForAny { waitingForAny[number] = recordID }
    for target in parkedEntry.targets {
      dependents[target] =
        dependents[target]?.adding(number, of: recordID) ?? .one(number, recordID)
    }
    guard let probe = parkedEntry.probe else { return }
    probes[ProbeTime(until: probe.until, number: number)] = recordID
    probesSetAt = max(probesSetAt ?? probe.start, probe.start)
    findNextProbe()
  }

  /// Takes an entry out; nil if the record is not parked.
  @discardableResult
  package mutating func unpark(_ recordID: RecordID) -> ParkedEntry? {
    guard let parkedEntry = entries.removeValue(for: recordID) else { return nil }
    let number = parkedEntry.number
    order[number] = nil
    if parkedEntry.isQuota { waitingForQuota[number] = nil }
    if parkedEntry.waitsForAny { waitingForAny[number] = nil }
    for target in parkedEntry.targets {
      // Mostly there is one: then the whole of them goes.
      guard let rest = dependents.removeValue(for: target)?.removing(number) else { continue }
      dependents[target] = rest
    }
    if let probe = parkedEntry.probe {
      probes[ProbeTime(until: probe.until, number: number)] = nil
      findNextProbe()
    }
    return parkedEntry
  }

  // MARK: On the way back

  /// Sends parked records again; those that are not parked are passed over.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - isAskedFor: Whether the app asks for it: its word is worth a whole budget.
  /// - Returns: Whether any was parked.
  @discardableResult
  mutating func returnToBatch(_ records: [RecordID], isAskedFor: Bool = false) -> Bool {
    var isAnyParked = false
    for recordID in records {
      guard var change = unpark(recordID)?.entry else { continue }
      if isAskedFor { change.endProbing() }
      returning.append(change)
      isAnyParked = true
    }
    return isAnyParked
  }

  /// Takes the records out whose time to be tried again has come, as many as one request may hold.
  mutating func takeDue(limits: RequestLimits, at now: Timestamp) -> [PendingChange] {
    var due: [PendingChange] = []
    var bytes = 0
    while due.count < limits.items, let next = firstDue(at: now) {
      bytes += next.entry.byteCount
      if !due.isEmpty, bytes > limits.bytes { break }
      unpark(next.entry.recordID)
      due.append(next.entry)
    }
    return due
  }

  /// Makes all change tags void: they belong to a zone or an account that is gone.
  mutating func forgetServer() {
    var others = PersistentQueue<PendingChange>()
    for var entry in returning {
      entry.forgetServer()
      others.append(entry)
    }
    returning = others
    for recordID in records {
      guard var parkedEntry = unpark(recordID) else { continue }
      parkedEntry.entry.forgetServer()
      park(parkedEntry)
    }
  }

  // MARK: Storage

  /// Whether any save waits for storage.
  var hasParkedForQuota: Bool { firstForQuota != nil }

  /// Whether nothing waits any more for storage that was full.
  var hasNoQuotaLeft: Bool { quota != nil && probe == nil && !hasParkedForQuota }

  /// Waits for storage; nothing is probed meanwhile.
  mutating func waitForQuota(until deadline: Deadline) {
    quota = deadline
    probe = nil
  }

  /// Whether the storage is to be probed now.
  func isQuotaDue(at now: Timestamp) -> Bool {
    probe == nil && (quota?.isPassed(at: now) ?? false)
  }

  /// Sends one save as a probe of the storage, or ends the wait if there is none.
  mutating func probeQuota() {
    guard let first = firstForQuota else {
      quota = nil
      return
    }
    probe = first.entry.recordID
    returnToBatch([first.entry.recordID])
  }

  /// Storage is free again, or nothing waits for it.
  mutating func endQuota() {
    quota = nil
    probe = nil
  }

  // MARK: All

  /// Forgets all entries, and what is on its way back.
  package mutating func removeAll() {
    let next = next
    self = ParkedRegion()
    self.next = next
  }

  private mutating func findNextProbe() {
    nextProbe = probes.first.flatMap { entries[$0.value]?.probe }
    if nextProbe == nil { probesSetAt = nil }
  }

  /// Moves the times of probes that a clock set back has pushed away.
  package mutating func clampProbes(at now: Timestamp) {
    guard let probesSetAt, probesSetAt > now else { return }
    self.probesSetAt = nil
    for recordID in timed {
      guard var parkedEntry = unpark(recordID) else { continue }
      parkedEntry.probe?.clamp(at: now)
      park(parkedEntry)
    }
  }

  /// The first thing about the entries that contradicts itself, in words; nil if nothing does.
  package var brokenInvariant: String? {
    var again = ParkedRegion()
    var numbers: Set<UInt64> = []
    var broken: String?
    entries.visitUnordered { recordID, entry in
      if recordID != entry.entry.recordID { broken = "\(recordID) is parked as another record" }
      if !numbers.insert(entry.number).inserted { broken = "two parked records have one number" }
      if entry.number >= next { broken = "\(recordID) was parked in the future" }
      again.park(entry)
    }
    if let broken { return broken }
    if again.order.entries.map(\.value) != order.entries.map(\.value) {
      return "the order of parked records is not that of their numbers"
    }
    if again.waitingForQuota.values != waitingForQuota.values
      || again.waitingForAny.values != waitingForAny.values
      || again.probes.values != probes.values || again.nextProbe != nextProbe
    {
      return "what parked records wait for is indexed wrongly"
    }
    if again.dependents.count != dependents.count { return "dependents are indexed wrongly" }
    dependents.visitUnordered { target, records in
      if again.dependents[target]?.records != records.records {
        broken = "the dependents of \(target) are indexed wrongly"
      }
    }
    return broken
  }
}

/// The records that refer to one, by the numbers of their entries; mostly there is one.
private enum Dependents: Sendable {
  case one(UInt64, RecordID)
  case many(PersistentSortedMap<UInt64, RecordID>)

  /// All of them, in a map also where there is one.
  var several: PersistentSortedMap<UInt64, RecordID> {
    switch self {
    case .one(let number, let recordID):
      var map = PersistentSortedMap<UInt64, RecordID>()
      map[number] = recordID
      return map
    case .many(let map): return map
    }
  }

  /// The records in the order in which they were parked.
  var records: [RecordID] {
    switch self {
    case .one(_, let recordID): [recordID]
    case .many(let map): map.values
    }
  }

  consuming func adding(_ number: UInt64, of recordID: RecordID) -> Dependents {
    var map = several
    map[number] = recordID
    return .many(map)
  }

  /// The others; nil if there are none.
  consuming func removing(_ number: UInt64) -> Dependents? {
    guard case .many(var map) = self else { return nil }
    map[number] = nil
    return map.isEmpty ? nil : .many(map)
  }
}

/// When an entry is tried again; its number decides among several.
private struct ProbeTime: Comparable, Sendable {
  let until: Timestamp
  let number: UInt64

  static func < (lhs: ProbeTime, rhs: ProbeTime) -> Bool {
    lhs.until != rhs.until ? lhs.until < rhs.until : lhs.number < rhs.number
  }
}

extension ParkedRegion: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("entries", inOrder)
      $0.field("returning", returning)
      $0.field("next", next)
      $0.field("inRow", inRow)
      $0.field("quota", quota)
      $0.field("probe", probe)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    let list: [ParkedEntry] = try reader.field("entries")
    for parkedEntry in list where entries[parkedEntry.entry.recordID] == nil { park(parkedEntry) }
    returning = try reader.field("returning")
    next = try reader.number("next")
    inRow = try reader.amount("inRow")
    quota = try reader.field("quota")
    probe = try reader.field("probe")
    try reader.endObject()
    if entries.count != list.count { throw reader.failure("a record is parked twice") }
  }
}

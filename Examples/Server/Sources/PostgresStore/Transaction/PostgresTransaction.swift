import CloudSyncLocalCloud
import CloudSyncSession

/// One transaction: what it read is kept, and what it writes is sent with `COMMIT`.
///
/// A request makes three round trips: the lock with the documents, the items, the writes with the end.
final class PostgresTransaction: LocalCloudTransaction {
  /// What is known of an item's row.
  private enum KnownItem {
    case missing
    case read(position: Int64, body: [UInt8])
    case written(StoredItem)
  }

  private let connection: PostgresConnection
  private let kind: LocalCloudTransactionKind
  private let onStep: (@Sendable (PostgresStep) -> Void)?
  /// What goes along with the next round trip: the begin, and locks.
  private var queued: [PostgresCall]
  private var documents: [[UInt8]: StoreDocument?] = [:]
  /// Documents that are going to be asked for; they are read along with the first that is.
  private var guessed: [[UInt8]] = []
  private var items: [ItemKey: KnownItem] = [:]
  private var writes = PendingWrites()
  private var hasBegun = false
  private var hasWritten = false
  /// What PostgreSQL refused; from then on the transaction is void.
  private(set) var failure: PostgresFailure?
  /// Whether the end was sent, so that a lost connection leaves open whether it is done.
  private(set) var isCommitting = false

  /// Makes a transaction, which begins with its first round trip.
  init(
    _ kind: LocalCloudTransactionKind,
    on connection: PostgresConnection,
    onStep: (@Sendable (PostgresStep) -> Void)?
  ) {
    self.connection = connection
    self.kind = kind
    self.onStep = onStep
    queued = [PostgresCall(kind == .write ? .beginWriting : .beginReading)]
  }

  // MARK: Round trips

  /// Carries out statements after those that were queued, and returns the responses of the former.
  private func run(_ calls: [PostgresCall]) throws(LocalCloudStoreError) -> [PostgresRows] {
    if let failure { throw failure.storeError }
    let isFirst = !hasBegun
    if isFirst { report(.beginning) }
    hasBegun = true
    let all = queued + calls
    queued = []
    do throws(PostgresFailure) {
      let rows = try connection.run(all)
      if isFirst { report(.locked) }
      return Array(rows.suffix(calls.count))
    } catch {
      failure = error
      throw error.storeError
    }
  }

  private func report(_ step: PostgresStep) { if kind == .write { onStep?(step) } }

  /// Sends what was written so far, so that queries see it.
  private func flush() throws(LocalCloudStoreError) {
    if writes.isEmpty { return }
    let calls = writes.calls
    writes = PendingWrites()
    hasWritten = true
    _ = try run(calls)
  }

  /// Makes what was written last.
  func commit() throws(LocalCloudStoreError) {
    if let failure { throw failure.storeError }
    guard hasBegun || !writes.isEmpty else { return }
    let end = PostgresCall(.commit)
    guard hasWritten || !writes.isEmpty else {
      // Nobody has to wait for the end of a transaction that changes nothing.
      do throws(PostgresFailure) { try connection.runLater(queued + [end]) } catch {
        failure = error
        throw error.storeError
      }
      return
    }
    report(.committing)
    isCommitting = true
    let rows = try run(writes.calls + [end])
    guard rows.last?.command == "COMMIT" else {
      throw LocalCloudStoreError(.cannotAccess, "PostgreSQL rolled a transaction back at its end")
    }
    report(.committed)
  }

  /// Undoes what was written, where the connection is still there.
  func abandon() {
    guard hasBegun, !connection.isBroken else { return }
    // Should it fail, the connection is broken and dropped, and the server undoes it.
    do throws(PostgresFailure) { _ = try connection.run([PostgresCall(.rollback)]) } catch {
      failure = failure ?? error
    }
  }

  /// The text in the first column.
  private func text(of rows: PostgresRows, row: Int) throws(LocalCloudStoreError) -> String {
    if let text = rows.text(row: row, column: 0) { return text }
    throw LocalCloudStoreError(.damaged, "a name or key is no text; restore a backup")
  }

  // MARK: Locks

  func lock(_ lock: LocalCloudLock) throws(LocalCloudStoreError) {
    guard kind == .write else { return }
    queued.append(PostgresLocks.call(lock, in: connection.namespace))
    // What others may have changed meanwhile is read again, along with the lock.
    let old = documents.keys.filter { !writes.contains(document: $0) }
    for key in old.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      documents[key] = nil
      guessed.append(key)
    }
    if case .account = lock { items = items.filter { writes.contains(item: $0.key) } }
  }

  // MARK: Documents

  func prefetch(documents keys: () -> [String]) throws(LocalCloudStoreError) {
    for key in keys() where documents[Array(key.utf8)] == nil { guessed.append(Array(key.utf8)) }
  }

  func document(_ key: String) throws(LocalCloudStoreError) -> StoreDocument? {
    let key = Array(key.utf8)
    if let known = documents[key] { return known }
    var keys = guessed.filter { documents[$0] == nil && $0 != key }
    keys.append(key)
    guessed = []
    let rows = try run([PostgresCall(.documents, .list(keys))])[0]
    for key in keys { documents[key] = .some(nil) }
    for row in 0..<rows.count {
      let document = try StoreDocument(bytes: rows.bytes(row: row, column: 1))
      documents[rows.bytes(row: row, column: 0)] = document
    }
    return documents[key] ?? nil
  }

  func documents(
    withPrefix prefix: String
  ) throws(LocalCloudStoreError) -> [(key: String, document: StoreDocument)] {
    let first = Array(prefix.utf8)
    if writes.hasDocuments(withPrefix: first) { try flush() }
    // No text has the byte 255, so what begins with the prefix lies before it.
    let call = PostgresCall(.documentsBetween, .bytes(first), .bytes(first + [255]))
    let rows = try run([call])[0]
    return try (0..<rows.count)
      .map { (row) throws(LocalCloudStoreError) in
        (
          try text(of: rows, row: row),
          try StoreDocument(bytes: rows.bytes(row: row, column: 1))
        )
      }
  }

  func setDocument(_ document: StoreDocument, for key: String) throws(LocalCloudStoreError) {
    let key = Array(key.utf8)
    documents[key] = document
    writes.set(document: document.bytes, for: key)
  }

  func removeDocument(_ key: String) throws(LocalCloudStoreError) {
    let key = Array(key.utf8)
    documents[key] = .some(nil)
    writes.set(document: nil, for: key)
  }

  // MARK: Items

  func prefetch(names: [String], in zone: StoredZoneKey) throws(LocalCloudStoreError) {
    let keys = names.map { ItemKey(zone: zone.number, name: Array($0.utf8)) }
      .filter { items[$0] == nil }
    guard !keys.isEmpty else { return }
    let call = PostgresCall(.items, .integer(zone.number), .list(keys.map(\.name)))
    let rows = try run([call])[0]
    for key in keys { items[key] = .missing }
    for row in 0..<rows.count {
      let key = ItemKey(zone: zone.number, name: rows.bytes(row: row, column: 0))
      items[key] = .read(
        position: rows.integer(row: row, column: 1),
        body: rows.bytes(row: row, column: 2)
      )
    }
  }

  func item(
    named name: String,
    in zone: StoredZoneKey
  ) throws(LocalCloudStoreError) -> StoredItem? {
    let key = ItemKey(zone: zone.number, name: Array(name.utf8))
    if items[key] == nil { try prefetch(names: [name], in: zone) }
    switch items[key] {
    case nil, .missing: return nil
    case .written(let item): return item
    case .read(let position, let body):
      return try StoredItem(
        position: position,
        recordID: RecordID(name: name, zoneID: zone.zoneID),
        bytes: body
      )
    }
  }

  func setItem(
    _ item: StoredItem,
    in zone: StoredZoneKey,
    replacing former: Int64?
  ) throws(LocalCloudStoreError) {
    let key = ItemKey(zone: zone.number, name: Array(item.recordID.name.utf8))
    writes.set(item: item.bytes, at: item.position, for: key, replacing: former)
    items[key] = .written(item)
  }

  func items(
    in zone: StoredZoneKey,
    after position: Int64,
    limit: Int,
    byteLimit: Int
  ) throws(LocalCloudStoreError) -> [StoredItem] {
    if writes.hasItems { try flush() }
    let call = PostgresCall(
      .page,
      .integer(zone.number),
      .integer(position),
      .integer(Int64(limit)),
      .integer(Int64(byteLimit))
    )
    let rows = try run([call])[0]
    return try (0..<rows.count)
      .map { (row) throws(LocalCloudStoreError) in
        try StoredItem(
          position: rows.integer(row: row, column: 1),
          recordID: RecordID(name: try text(of: rows, row: row), zoneID: zone.zoneID),
          bytes: rows.bytes(row: row, column: 2)
        )
      }
  }

  func removeItems(in zone: StoredZoneKey) throws(LocalCloudStoreError) {
    try flush()
    hasWritten = true
    items = items.filter { $0.key.zone != zone.number }
    for statement in [PostgresStatement.removeItems, .removeLinksOfZone] {
      while try run([PostgresCall(statement, .integer(zone.number))])[0].changedCount > 0 {}
    }
  }

  // MARK: Links

  func sources(
    of target: String,
    in zone: StoredZoneKey,
    limit: Int
  ) throws(LocalCloudStoreError) -> [String] {
    if writes.hasLinks { try flush() }
    let call = PostgresCall(
      .sources,
      .integer(zone.number),
      .text(target),
      .integer(Int64(limit))
    )
    let rows = try run([call])[0]
    return try (0..<rows.count)
      .map { (row) throws(LocalCloudStoreError) in try text(of: rows, row: row) }
  }

  func setLink(
    from source: String,
    to target: String,
    in zone: StoredZoneKey,
    isPresent: Bool
  ) throws(LocalCloudStoreError) {
    let key = LinkKey(
      zone: zone.number,
      target: Array(target.utf8),
      source: Array(source.utf8)
    )
    writes.set(link: key, isPresent: isPresent)
  }
}

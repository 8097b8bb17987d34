import CloudSyncLocalCloud

/// A row of the items, found by name.
struct ItemKey: Hashable {
  let zone: Int64
  let name: [UInt8]
}

/// A row of the links.
struct LinkKey: Hashable {
  let zone: Int64
  let target: [UInt8]
  let source: [UInt8]
}

/// What a transaction is going to write, the last state of each row only.
///
/// It is sent in few statements, whatever the number of rows. The order of rows is that in which they were
/// first written, so that the same requests make the same statements.
struct PendingWrites {
  private struct Item {
    var position: Int64
    var body: [UInt8]
    /// The position of the row that is there, if there is one.
    var former: Int64?
  }

  private var documents: [(key: [UInt8], body: [UInt8]?)] = []
  private var documentPlaces: [[UInt8]: Int] = [:]
  private var items: [(key: ItemKey, item: Item)] = []
  private var itemPlaces: [ItemKey: Int] = [:]
  private var links: [(key: LinkKey, isPresent: Bool)] = []
  private var linkPlaces: [LinkKey: Int] = [:]

  var hasItems: Bool { !items.isEmpty }
  var hasLinks: Bool { !links.isEmpty }
  var isEmpty: Bool { documents.isEmpty && items.isEmpty && links.isEmpty }

  /// Writes a document, or removes it with nil.
  mutating func set(document body: [UInt8]?, for key: [UInt8]) {
    if let place = documentPlaces[key] {
      documents[place].body = body
    } else {
      documentPlaces[key] = documents.count
      documents.append((key, body))
    }
  }

  /// Writes an item in place of the one that the transaction sees at a position.
  mutating func set(
    item body: [UInt8],
    at position: Int64,
    for key: ItemKey,
    replacing former: Int64?
  ) {
    if let place = itemPlaces[key] {
      items[place].item.position = position
      items[place].item.body = body
    } else {
      itemPlaces[key] = items.count
      items.append((key, Item(position: position, body: body, former: former)))
    }
  }

  /// Writes a link, or removes it.
  mutating func set(link key: LinkKey, isPresent: Bool) {
    if let place = linkPlaces[key] {
      links[place].isPresent = isPresent
    } else {
      linkPlaces[key] = links.count
      links.append((key, isPresent))
    }
  }

  /// Whether a document is going to be written whose key begins so.
  func hasDocuments(withPrefix prefix: [UInt8]) -> Bool {
    documents.contains { $0.key.starts(with: prefix) }
  }
  /// Whether a document is going to be written.
  func contains(document key: [UInt8]) -> Bool { documentPlaces[key] != nil }
  /// Whether an item is going to be written.
  func contains(item key: ItemKey) -> Bool { itemPlaces[key] != nil }

  /// The statements, those that change items first.
  var calls: [PostgresCall] { updates + inserts + documentCalls + linkCalls }

  private var updates: [PostgresCall] {
    let rows = items.filter { $0.item.former != nil }
    guard !rows.isEmpty else { return [] }
    return [
      PostgresCall(
        .updateItems,
        .integers(rows.map(\.key.zone)),
        .integers(rows.map { $0.item.former ?? 0 }),
        .integers(rows.map(\.item.position)),
        .list(rows.map(\.item.body))
      )
    ]
  }

  private var inserts: [PostgresCall] {
    let rows = items.filter { $0.item.former == nil }
    guard !rows.isEmpty else { return [] }
    return [
      PostgresCall(
        .insertItems,
        .integers(rows.map(\.key.zone)),
        .integers(rows.map(\.item.position)),
        .list(rows.map(\.key.name)),
        .list(rows.map(\.item.body))
      )
    ]
  }

  private var documentCalls: [PostgresCall] {
    var keys: [[UInt8]] = []
    var bodies: [[UInt8]] = []
    var removed: [[UInt8]] = []
    for (key, body) in documents {
      guard let body else {
        removed.append(key)
        continue
      }
      keys.append(key)
      bodies.append(body)
    }
    var calls: [PostgresCall] = []
    if !keys.isEmpty { calls.append(PostgresCall(.setDocuments, .list(keys), .list(bodies))) }
    if !removed.isEmpty { calls.append(PostgresCall(.removeDocuments, .list(removed))) }
    return calls
  }

  private var linkCalls: [PostgresCall] {
    [(true, PostgresStatement.setLinks), (false, .removeLinks)]
      .compactMap { isPresent, statement in
        let rows = links.filter { $0.isPresent == isPresent }
        guard !rows.isEmpty else { return nil }
        return PostgresCall(
          statement,
          .integers(rows.map(\.key.zone)),
          .list(rows.map(\.key.target)),
          .list(rows.map(\.key.source))
        )
      }
  }
}

import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A foreign key by the places of its tables.
struct TableLink: Sendable {
  /// Its number among all.
  let number: Int
  /// Nil if the table that refers is not synchronized.
  let child: Int?
  let parent: Int
  let reference: TableReference
  /// How the columns are compared that it refers to; nil for a collation of the app's own.
  let collations: [KeyCollation?]
  /// Those of its columns that tell of which row a reference is.
  ///
  /// They belong to no other foreign key which refers to a primary key. There are none where rows may stay as they are when
  /// a key is given to another row.
  fileprivate(set) var own: [String] = []

  var columns: [String] { reference.key.columns }
  var referencedColumns: [String] { reference.key.referencedColumns }
  /// Whether its columns are part of the key of the rows that refer.
  var isInKeyOfChild: Bool { columns.contains { reference.child.primaryKey.contains($0) } }
  /// Whether it refers to the primary key, so that its columns tell which record it is.
  var refersToKey: Bool { reference.key.referencedColumns == reference.parent.primaryKey }
}

/// The tables that an engine synchronizes, and how they refer to each other.
struct SyncTables: Sendable {
  /// Parents before children, as far as there are no circles; a table is called by its place here.
  private(set) var inOrder: [RecordTable]
  /// Whether the engine's connection enforces foreign keys.
  let enforcesForeignKeys: Bool
  /// All foreign keys that have to do with the tables.
  let links: [TableLink]
  /// The tables as those whose captured edits are read.
  let captured: CapturedEditReader.Tables
  /// Tables that engines have synchronized, and this one does not.
  let leftOut: [LeftOutTable]
  private let places: [Int64: Int]
  /// The foreign keys by the places of the tables that have them, and of those that they refer to.
  private let linksFrom: [[TableLink]]
  private let linksTo: [[TableLink]]
  /// Whether rows may be stored without a look at others, by the places of the tables.
  private let plain: [Bool]
  /// Whether rows may stay on this device, for their own condition or for that of a row that they need, by the places
  /// of the tables.
  private let filtered: [Bool]
  /// Whether any of them may.
  let hasFilters: Bool

  /// Takes tables.
  ///
  /// - Parameters:
  ///   - tables: The tables, parents first.
  ///   - references: All foreign keys of the database.
  ///   - enforcesForeignKeys: Whether the connection enforces them.
  ///   - leftOut: Tables that engines have synchronized, and this one does not.
  init(
    _ tables: [RecordTable],
    references: [TableReference],
    enforcesForeignKeys: Bool,
    leftOut: [LeftOutTable] = []
  ) {
    inOrder = tables
    self.leftOut = leftOut
    captured = CapturedEditReader.Tables(tables.map(\.captured))
    self.enforcesForeignKeys = enforcesForeignKeys
    let names = tables.map(\.name)
    var links: [TableLink] = []
    for reference in references {
      guard let parent = names.firstIndex(of: reference.parent.name) else { continue }
      let child = names.firstIndex(of: reference.child.name)
      // What refers to a table from outside does so only where somebody sees to it.
      guard child != nil || enforcesForeignKeys else { continue }
      links.append(
        TableLink(
          number: links.count,
          child: child,
          parent: parent,
          reference: reference,
          collations: tables[parent].collations(of: reference.key.referencedColumns)
        )
      )
    }
    let byKey = links.filter { $0.refersToKey && $0.reference.key.onUpdate != .noAction }
    for link in byKey {
      let others = byKey.filter { $0.number != link.number && $0.child == link.child }
      links[link.number].own = link.columns.filter { column in
        !others.contains { $0.columns.contains(column) }
      }
    }
    self.links = links
    linksFrom = tables.indices.map { place in links.filter { $0.child == place } }
    linksTo = tables.indices.map { place in links.filter { $0.parent == place } }
    plain = tables.enumerated()
      .map { place, table in
        table.takesPlainRows
          && links.allSatisfy { link in
            if link.child != place && link.parent != place { return true }
            // A row that refers to itself may spell its key otherwise there.
            let isExact = link.collations.allSatisfy { $0 == .binary }
            return link.refersToKey && (link.child != link.parent || isExact)
          }
      }
    filtered = Self.filtered(tables, links)
    hasFilters = filtered.contains(true)
    let pairs = tables.enumerated().map { ($0.element.id, $0.offset) }
    places = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  /// The tables with a condition, and those that refer to such a table, by whatever way.
  private static func filtered(_ tables: [RecordTable], _ links: [TableLink]) -> [Bool] {
    var found = tables.map { $0.filter != nil }
    if !found.contains(true) { return found }
    var isComplete = false
    while !isComplete {
      isComplete = true
      for link in links {
        guard let child = link.child, found[link.parent], !found[child] else { continue }
        found[child] = true
        isComplete = false
      }
    }
    return found
  }

  /// Whether rows of a table may stay on this device.
  func mayFilterRows(of place: Int) -> Bool { filtered[place] }

  /// Whether rows of a table that are new may be stored as they come: neither triggers of the app's nor references to
  /// other keys than the primary one follow from that.
  func takesPlainRows(of place: Int) -> Bool { plain[place] }

  subscript(place: Int) -> RecordTable { inOrder[place] }

  /// The place of the table of a number.
  func place(ofID id: Int64) -> Int? { places[id] }

  func place(named name: String) -> Int? { inOrder.firstIndex { $0.name.isSameName(as: name) } }

  /// The place of the table whose records are of a type.
  func place(ofType type: String) -> Int? {
    inOrder.firstIndex { UTF8Bytes.equal($0.format.recordType, type) }
  }

  /// The table and the key of a record by its name; nil if it is none of a row's, or the name has no more than
  /// the key's digest.
  func place(ofRecord name: String) -> (place: Int, key: RecordKey)? {
    guard let parsed = RecordName.parse(name), case .values(let values) = parsed.key else {
      return nil
    }
    for (place, table) in inOrder.enumerated() where values.count == table.key.count {
      let key = table.format.key(spelled: values)
      if UTF8Bytes.equal(key.name, name) { return (place, key) }
    }
    return nil
  }

  func links(from place: Int) -> [TableLink] { linksFrom[place] }
  func links(to place: Int) -> [TableLink] { linksTo[place] }

  /// The number of this database.
  var writer: Int64 {
    get { inOrder.first?.rules.writer ?? 0 }
    set {
      if writer != newValue { inOrder = inOrder.map { RecordTable($0, writer: newValue) } }
    }
  }
}

extension RecordTable {
  /// How the columns of a key are compared.
  fileprivate func collations(of names: [String]) -> [KeyCollation?] {
    let keys = schema.uniqueKeys.filter { !$0.isPartial }
      .map { key in key.columns.map { $0 ?? "" }.enumerated().map { ($1, key.collations[$0]) } }
    let unique = keys.first { key in
      key.count == names.count && names.allSatisfy { name in key.contains { $0.0 == name } }
    }
    return names.map { name in
      if let column = captured.key.first(where: { $0.name == name }) { return column.collation }
      return unique?.first { $0.0 == name }.flatMap { KeyCollation(name: $0.1) }
    }
  }
}

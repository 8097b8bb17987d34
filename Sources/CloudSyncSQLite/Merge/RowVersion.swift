package import CloudSyncCore

/// A column's value, and when it was set.
package struct VersionedColumn: Sendable, Hashable {
  package let name: String
  /// The value as ``ValueCodec`` makes it; null means NULL.
  package var value: FieldValue
  package var time: HybridTime

  package init(name: String, value: FieldValue, time: HybridTime) {
    self.name = name
    self.value = value
    self.time = time
  }

  package static func == (lhs: VersionedColumn, rhs: VersionedColumn) -> Bool {
    lhs.time == rhs.time && UTF8Bytes.equal(lhs.name, rhs.name) && lhs.value == rhs.value
  }

  package func hash(into hasher: inout Hasher) {
    UTF8Bytes.with(name) { hasher.combine(bytes: $0) }
    hasher.combine(value)
    hasher.combine(time)
  }
}

/// A row as one side has it: the columns that it knows, with the time of each.
///
/// A column that is not there is unknown to that side, which is something else than NULL.
///
/// A row may be deleted and made again under its key, so it is deleted only if its deletion is not
/// followed by a creation: see ``isDeleted``. A side that knows no more than that there is no row
/// is ``missing``.
///
/// - Invariant: The columns are sorted by the UTF-8 bytes of their names, which are unique.
package struct RowVersion: Sendable, Hashable {
  package private(set) var columns: [VersionedColumn]
  /// When the row was inserted last; nil if that is not known.
  package var createdAt: HybridTime?
  /// When the row, or the one before it under its key, was deleted last.
  package var deletedAt: HybridTime?
  /// Fields of the record that belong to no column, sorted by name.
  package var unknownFields: [RecordField]

  /// Creates a version from columns in any order; of several with one name the last stays.
  package init(
    columns: [VersionedColumn],
    createdAt: HybridTime? = nil,
    deletedAt: HybridTime? = nil,
    unknownFields: [RecordField] = []
  ) {
    self.columns = Self.sorted(columns)
    self.createdAt = createdAt
    self.deletedAt = deletedAt
    self.unknownFields = unknownFields
  }

  /// No row, and no word of when it went: what a record is that the cloud does not have any more.
  package static let missing = RowVersion(columns: [], deletedAt: .zero)

  /// Whether there is no such row now.
  package var isDeleted: Bool {
    guard let deletedAt else { return false }
    return createdAt.map { $0 <= deletedAt } ?? true
  }

  /// The latest of all times.
  package var time: HybridTime {
    let life = max(createdAt ?? .zero, deletedAt ?? .zero)
    return columns.reduce(life) { max($0, $1.time) }
  }

  /// A column by its name.
  package subscript(name: String) -> VersionedColumn? {
    get { place(of: name).flatMap { columns[$0] } }
    set {
      let place = place(of: name)
      switch (newValue, place) {
      case (let column?, let place?): columns[place] = column
      case (let column?, nil): columns = Self.sorted(columns + [column])
      case (nil, let place?): columns.remove(at: place)
      case (nil, nil): break
      }
    }
  }

  /// The names of the columns that another version does not know.
  package func columns(missingFrom other: RowVersion) -> [String] {
    columns.map(\.name).filter { other[$0] == nil }
  }

  private func place(of name: String) -> Int? {
    var (low, high) = (0, columns.count)
    while low < high {
      let middle = (low + high) / 2
      let order = UTF8Bytes.order(columns[middle].name, name)
      if order == 0 { return middle }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  private static func sorted(_ columns: [VersionedColumn]) -> [VersionedColumn] {
    let isSorted = columns.indices.dropFirst()
      .allSatisfy { UTF8Bytes.order(columns[$0 - 1].name, columns[$0].name) < 0 }
    if isSorted { return columns }
    var result: [VersionedColumn] = []
    let order = columns.indices.sorted {
      let order = UTF8Bytes.order(columns[$0].name, columns[$1].name)
      return order != 0 ? order < 0 : $0 < $1
    }
    for index in order {
      if let last = result.last, UTF8Bytes.equal(last.name, columns[index].name) {
        result.removeLast()
      }
      result.append(columns[index])
    }
    return result
  }
}

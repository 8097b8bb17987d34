import CloudSyncCore

/// The numbers of a table's columns: their places in a list that only grows.
///
/// A column keeps its number after it was dropped, so that every clock that was ever stored can be read.
struct ColumnNumbers: Sendable, Hashable {
  /// A column in the order of the names' bytes.
  struct Entry: Sendable, Hashable {
    let name: String
    let number: Int
  }

  /// The names by number.
  private(set) var names: [String] = []
  /// All columns, sorted by the bytes of their names, each once.
  private(set) var sorted: [Entry] = []

  /// Takes names in the order of their numbers; one that comes again gets no second number.
  init(_ names: [String] = []) { add(names) }

  /// Gives numbers to those names that have none; the others keep theirs.
  mutating func add(_ names: [String]) {
    for name in names {
      let place = place(of: name)
      if place < sorted.count, UTF8Bytes.equal(sorted[place].name, name) { continue }
      sorted.insert(Entry(name: name, number: self.names.count), at: place)
      self.names.append(name)
    }
  }

  func number(of name: String) -> Int? {
    let place = place(of: name)
    guard place < sorted.count, UTF8Bytes.equal(sorted[place].name, name) else { return nil }
    return sorted[place].number
  }

  private func place(of name: String) -> Int {
    sorted.indices.firstPlace { UTF8Bytes.order(sorted[$0].name, name) >= 0 }
  }
}

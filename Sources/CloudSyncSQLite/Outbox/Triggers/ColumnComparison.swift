import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The expressions that find out which columns an update changes.
///
/// SQLite allows expressions a depth of 1,000, and a chain of operators is as deep as it is long: so
/// they are joined by halves.
struct ColumnComparison {
  let table: CapturedTable
  /// Whether the update changes the key: then only the other columns are meant.
  var changesKey = false

  /// The columns that an update may change without changing the key, or beside it.
  private var changeable: [(number: Int, column: TableSchema.Column)] {
    let key = table.key.map(\.name)
    if changesKey { return table.watched.filter { !key.contains($0.column.name) } }
    let exact = table.key.filter { $0.collation == .binary }.map(\.name)
    return table.watched.filter {
      !exact.contains($0.column.name) || table.schema.keepsValues(in: $0.column)
    }
  }

  /// Whether any of them has changed.
  var isAnyChanged: String {
    Self.joined(changeable.map { "(\(isChanged($0.column)))" }, by: "OR")
  }

  /// The changed ones as bits.
  var bits: String {
    var words: [[String]] = []
    for (number, column) in changeable {
      let (word, place) = number.quotientAndRemainder(dividingBy: ColumnBits.perWord)
      while words.count <= word { words.append([]) }
      words[word].append("(\(isChanged(column)))" + (place == 0 ? "" : " << \(place)"))
    }
    let sums = words.map { terms in
      terms.isEmpty ? "0" : Self.joined(terms.map { "(\($0))" }, by: "|")
    }
    if sums.isEmpty { return "0" }
    return sums.count == 1 ? sums[0] : Self.joined(sums.map { "(\($0))" }, by: "|| ',' ||")
  }

  /// Whether an update changes a column: to the byte, whatever its collation, and by type.
  ///
  /// Values of different types are never the same for SQLite, but for whole numbers and reals. Of these an affinity for
  /// numbers keeps only one, except of the lowest whole number outside of STRICT tables, and that of BLOB both.
  private func isChanged(_ column: TableSchema.Column) -> String {
    let name = column.name.quotedName
    let isDifferent = Self.difference(of: column.name)
    let isOfNumbers = column.affinity == .integer || column.affinity == .numeric
    return table.schema.keepsValues(in: column) || isOfNumbers && !table.schema.isStrict
      ? "\(isDifferent) OR typeof(old.\(name)) <> typeof(new.\(name))" : isDifferent
  }

  /// Whether an update changes the bytes of a column; the text of a trigger has it for each column that it watches.
  static func difference(of column: String) -> String {
    let name = column.quotedName
    return "old.\(name) IS NOT new.\(name) COLLATE BINARY"
  }

  /// Joins terms by an operator, so that the expression is as flat as it can be.
  private static func joined(_ terms: [String], by sign: String) -> String {
    var level = terms
    while level.count > 1 {
      level = stride(from: 0, to: level.count, by: 2)
        .map { $0 + 1 < level.count ? "(\(level[$0]) \(sign) \(level[$0 + 1]))" : level[$0] }
    }
    return level.first ?? "0"
  }
}

import CloudSyncSQLiteSupport

/// What somebody may have meant who mistyped a name.
package enum Suggestion {
  /// The end of an error about a name: what is closest to it, or nothing if all is far.
  package static func text(for name: String, among names: [String]) -> String {
    closest(to: name, among: names).map { "; did you mean “\($0)”?" } ?? ""
  }

  /// The same as a sentence of its own, with a space before it.
  package static func sentence(for name: String, among names: [String]) -> String {
    closest(to: name, among: names).map { " Did you mean \($0.quotedName)?" } ?? ""
  }

  /// The name that takes the fewest edits, if these are at most a third of its letters, or two.
  package static func closest(to name: String, among names: [String]) -> String? {
    let word = Array(name.lowercased())
    let found = names.map { (name: $0, distance: distance(from: word, to: Array($0.lowercased()))) }
      .min { $0.distance < $1.distance }
    guard let found, found.distance <= max(2, word.count / 3), found.distance < word.count else {
      return nil
    }
    return found.name
  }

  /// How many letters have to be inserted, removed, replaced or swapped with their neighbour.
  private static func distance(from one: [Character], to other: [Character]) -> Int {
    var rows = [Array(0...other.count)]
    for (i, letter) in one.enumerated() {
      var row = [i + 1]
      for (j, second) in other.enumerated() {
        var least = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (letter == second ? 0 : 1))
        if i > 0, j > 0, letter == other[j - 1], one[i - 1] == second {
          least = min(least, rows[i - 1][j - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[one.count][other.count]
  }
}

/// What the commit says of itself that puts back what a merge has dropped.
package struct RestoreMark {
  /// The merge.
  package let merge: ChangesetID
  /// The place of the decision among the merge's.
  let number: Int

  private static let start = #"{"restores":""#
  private static let middle = #"","number":"#

  init(merge: ChangesetID, number: Int) { (self.merge, self.number) = (merge, number) }

  /// The meta of such a commit.
  var meta: String { "\(Self.start)\(merge)\(Self.middle)\(number)}" }

  /// What a commit puts back, by its meta; nil if it is another one.
  package init?(meta: String) {
    guard meta.hasPrefix(Self.start), meta.hasSuffix("}") else { return nil }
    let parts = meta.dropFirst(Self.start.count).dropLast().split(separator: Self.middle)
    guard parts.count == 2, let merge = ChangesetID(String(parts[0])),
      let number = Int(parts[1]), number >= 0
    else { return nil }
    self.init(merge: merge, number: number)
  }
}

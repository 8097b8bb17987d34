/// What two edits of a record were made of, of which each knows its own ancestor.
enum MergedAncestor {
  /// The earlier edit's ancestor, with the later one's values of what the later edit alone changes.
  ///
  /// A later edit without an ancestor was made of nothing: what it sets was not there.
  ///
  /// - Complexity: O(*n*) in the number of fields of all.
  static func of(
    _ ancestor: Record,
    adopting later: Record?,
    editing edit: Record,
    after earlier: Record
  ) -> Record {
    if let later, ancestor.storage === later.storage { return ancestor }
    let edited = edit.storage.fields
    var replaced: [RecordField] = []
    Record.walk(lhs: edited, rhs: earlier.storage.fields) { field, known in
      guard let field, known == nil else { return }
      let name = edited[field].name
      // What it removes is told by what was there.
      if later == nil, edited[field].value.isNull { return }
      let value = later?[name] ?? .null
      if value.hasSameContent(as: ancestor[name] ?? .null) { return }
      replaced.append(RecordField(name: name, value: value))
    }
    if replaced.isEmpty { return ancestor }
    return ancestor.applying(Record(storage: ancestor.storage.copy(fields: replaced)))
  }
}

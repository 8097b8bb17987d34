/// A conflict that an edit went through, and what later edits of the record were made of since.
///
/// Which of them were made of what the conflict was resolved to shows in the values only, which a log may hide: they are
/// compared where the next conflict is looked at, and never where events are reduced.
struct Resolution: Sendable {
  /// The server's record.
  var server: Record
  /// The edit of it that was decided.
  var resolved: Record
  /// Of each field that an edit has set since, what the first of these edits was made of.
  var seen: Record?

  /// How many of one edit are remembered, the last ones.
  static let most = 4

  /// What a field has where the edit of the resolution is shown.
  func shown(_ field: String) -> FieldValue {
    resolved[field] ?? server[field] ?? .null
  }

  /// Takes note of what a later edit was made of.
  ///
  /// One without an ancestor was made of what is shown if it has the same change tag, and else of nothing that is known.
  mutating func see(_ edit: Record, madeOf ancestor: Record?) {
    let isSameVersion = UTF8Bytes.equal(edit.changeTag, resolved.changeTag)
    var fields: [RecordField] = []
    for field in edit.fields where seen?[field.name] == nil {
      let value =
        if let ancestor {
          ancestor[field.name] ?? .null
        } else {
          isSameVersion ? shown(field.name) : FieldValue.null
        }
      fields.append(RecordField(name: field.name, value: value))
    }
    let more = resolved.holding(fields)
    seen = seen?.merging(later: more) ?? more
  }
}

extension PendingChange {
  /// Whether only values tell what it is measured from.
  var isMeasuredByValues: Bool {
    hasHistory && (resolutions.last?.seen != nil || !sentEdits.isEmpty)
  }

  /// What the edit is measured from where it meets the server's record.
  ///
  /// If that holds an earlier version of the edit that was sent and not answered, the edit goes on from there.
  func ancestor(of edit: Record, inCloud server: Record) -> Record? {
    guard hasHistory else { return ancestor }
    guard let ancestor = effectiveAncestor else { return nil }
    let saved = sentEdits.first { server.contains(edit: $0.edit) }
    return saved?.ancestor(of: edit, madeOf: ancestor) ?? ancestor
  }

  /// What the next conflict is measured from, field by field: the server's record of the last one, but for a field
  /// that was edited since, what that edit was made of in its turn.
  ///
  /// An edit that was made of what an earlier conflict was resolved to goes on from there. Any other was made beside it, and
  /// goes on from what the first edit was made of.
  ///
  /// - Returns: The ancestor, which may be of no version that ever was; nil if none is known.
  /// - Complexity: O(*n*) in the number of fields of all.
  private var effectiveAncestor: Record? {
    guard let last = resolutions.last else { return ancestor }
    guard let edited = last.seen else { return last.server }
    // A field of which nothing is known was not there, as in a conflict of an edit without an ancestor.
    let fields = edited.fields.map { field in
      RecordField(name: field.name, value: origin(of: field.name) ?? .null)
    }
    return last.server.applying(last.server.holding(fields))
  }

  /// What the edits of a field began with; nil if nothing is known of it.
  private func origin(of field: String) -> FieldValue? {
    var origin = ancestor.map { $0[field] ?? .null }
    for (place, resolution) in resolutions.enumerated() {
      guard let known = resolution.seen?[field] else { continue }
      let made = resolutions[...place].last { $0.shown(field).hasSameContent(as: known) }
      if let made { origin = made.server[field] ?? .null }
    }
    return origin
  }
}

extension Resolution: CodedStruct {
  init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    server = try coder.field("server") { $0.server }
    resolved = try coder.field("resolved") { $0.resolved }
    seen = try coder.field("seen") { $0.seen }
  }
}

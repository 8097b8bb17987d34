/// The three-way merge of a record, field by field.
struct FieldwiseMerge: Sendable {
  /// Policies sorted by the bytes of the names.
  private let policies: [(name: String, policy: FieldPolicy)]
  private let fallback: FieldPolicy

  init(policies: [String: FieldPolicy], default fallback: FieldPolicy) {
    // The order of the dictionary is lost in the sorting.
    self.policies = policies.map { (name: $0.key, policy: $0.value) }
      .sorted { UTF8Bytes.order($0.name, $1.name) < 0 }
    self.fallback = fallback
  }

  private func policy(for name: String) -> FieldPolicy {
    var low = 0
    var high = policies.count
    while low < high {
      let middle = (low + high) / 2
      let order = UTF8Bytes.order(policies[middle].name, name)
      if order == 0 { return policies[middle].policy }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return fallback
  }

  /// Returns the edit of the server's record that holds the merged fields.
  func merge(_ conflict: Conflict) -> Record {
    let edited = conflict.client.fields
    let clientIsNewer = conflict.clientIsNewer
    var server = Cursor(fields: conflict.server.fields)
    var ancestor = Cursor(fields: conflict.ancestor?.fields ?? [])
    let hasAncestor = conflict.ancestor != nil
    var merged: [RecordField] = []
    for index in edited.indices {
      server.move(to: edited[index].name)
      ancestor.move(to: edited[index].name)
      if hasAncestor {
        if ancestor.holds(edited[index].value) { continue }
        if server.agrees(with: ancestor) {
          merged.append(edited[index])
          continue
        }
      }
      let name = edited[index].name
      let policy = policy(for: name)
      // What both removed is gone; two equal additions may be two.
      let mayBeTwo = policy.countsEqualEdits && !edited[index].value.isNull
      if !mayBeTwo, server.holds(edited[index].value) { continue }
      let theirs = server.value
      let value =
        policy.merge(
          client: edited[index].value,
          server: theirs,
          ancestor: ancestor.value,
          clientIsNewer: clientIsNewer
        )
      if value != theirs ?? .null { merged.append(RecordField(name: name, value: value)) }
    }
    return conflict.edit(conflict.client, setting: merged)
  }

  /// A place in sorted fields that moves forward only.
  ///
  /// Values are compared where they lie, because a copy of one costs a retain.
  private struct Cursor {
    let fields: [RecordField]
    private var next = 0
    /// Where the field is that was asked for last, if it is there and not null.
    private var place: Int?

    init(fields: [RecordField]) { self.fields = fields }

    /// Moves to a field; names must be asked for in rising order.
    mutating func move(to name: String) {
      place = nil
      while next < fields.count {
        let order = UTF8Bytes.order(fields[next].name, name)
        if order > 0 { return }
        next += 1
        guard order == 0 else { continue }
        if !fields[next - 1].value.isNull { place = next - 1 }
        return
      }
    }

    var value: FieldValue? {
      guard let place else { return .none }
      return fields[place].value
    }

    func holds(_ other: FieldValue) -> Bool {
      guard let place else { return other.isNull }
      return fields[place].value == other
    }

    func agrees(with other: Cursor) -> Bool {
      guard let place, let otherPlace = other.place else {
        return place == nil && other.place == nil
      }
      return fields[place].value == other.fields[otherPlace].value
    }
  }
}

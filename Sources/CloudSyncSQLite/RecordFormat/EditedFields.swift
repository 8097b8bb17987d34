import CloudSyncCore

/// The fields that an edit sets and clears, in any order; a name that is set is not cleared.
struct EditedFields {
  private var fields: [RecordField] = []

  mutating func set(_ field: RecordField) { fields.append(field) }

  mutating func clear(_ name: String) { fields.append(RecordField(name: name, value: .null)) }

  func sets(_ name: String) -> Bool {
    fields.contains { !$0.value.isNull && UTF8Bytes.equal($0.name, name) }
  }

  /// All of them, sorted by name, each name once.
  var sorted: [RecordField] {
    var result: [RecordField] = []
    result.reserveCapacity(fields.count)
    let ordered = fields.sorted {
      let order = UTF8Bytes.order($0.name, $1.name)
      return order != 0 ? order < 0 : !$0.value.isNull && $1.value.isNull
    }
    for field in ordered {
      if let last = result.last, UTF8Bytes.equal(last.name, field.name) { continue }
      result.append(field)
    }
    return result
  }
}

import CloudSyncCore

/// The record types of a container, with the kinds of their fields.
struct SchemaDocument: CodedValue {
  static let key = "schema"

  /// The key of an account that has a schema of its own.
  static func key(account: Int64) -> String { "\(key)/\(account)" }

  /// A field of a record type.
  struct Field: CodedValue {
    var name: String
    /// The kind of its values, or of the elements of a list; see `kind(of:)`.
    var kind: Int
    var isEncrypted: Bool

    func write<W: CodedWriter>(to writer: inout W) {
      writer.object {
        $0.field("name", name)
        $0.field("kind", kind)
        $0.field("isEncrypted", isEncrypted)
      }
    }

    init<R: CodedReader>(from reader: inout R) throws(CodedError) {
      try reader.beginObject()
      name = try reader.field("name")
      kind = try reader.field("kind")
      isEncrypted = try reader.field("isEncrypted")
      try reader.endObject()
    }

    init(name: String, kind: Int, isEncrypted: Bool) {
      self.name = name
      self.kind = kind
      self.isEncrypted = isEncrypted
    }
  }

  /// A record type, its fields sorted by name.
  struct RecordType: CodedValue {
    var name: String
    var fields: [Field] = []

    init(name: String) { self.name = name }

    func write<W: CodedWriter>(to writer: inout W) {
      writer.object {
        $0.field("name", name)
        $0.field("fields", fields)
      }
    }

    init<R: CodedReader>(from reader: inout R) throws(CodedError) {
      try reader.beginObject()
      name = try reader.field("name")
      fields = try reader.field("fields")
      try reader.endObject()
    }
  }

  /// Sorted by name.
  private(set) var types: [RecordType] = []
  /// Whether something came into being since it was read.
  private(set) var hasChanged = false

  init() {}

  /// The schema as it is read: nothing has come into being since.
  var unchanged: SchemaDocument {
    var schema = self
    schema.hasChanged = false
    return schema
  }

  func write<W: CodedWriter>(to writer: inout W) { writer.object { $0.field("types", types) } }

  init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    types = try reader.object { (reader) throws(CodedError) in try reader.field("types") }
  }

  /// Checks an edit, and adds what is new where the mode allows it.
  mutating func admit(edit: Record, options: LocalCloudOptions) -> SyncError? {
    let name = edit.recordType
    var index = types.firstPlace { UTF8Bytes.order($0.name, name) < 0 }
    if index == types.count || !UTF8Bytes.equal(types[index].name, name) {
      guard options.schemaMode == .development else {
        return SyncError(options.unknownTypeCode, "the schema has no record type \(name)")
      }
      if let limit = options.schemaLimit?.types, types.count >= limit {
        return SyncError(.invalidArguments, "the schema has at most \(limit) record types")
      }
      types.insert(RecordType(name: name), at: index)
      hasChanged = true
    }
    let storage = edit.storage
    var place = 0
    for position in storage.fields.indices {
      guard let kind = Self.kind(of: storage.fields[position].value) else { continue }
      let error = admit(
        record: storage,
        position: position,
        kind: kind,
        type: &index,
        from: &place,
        options: options
      )
      if let error { return error }
    }
    return nil
  }

  /// Checks one field against the schema's fields from a place on.
  private mutating func admit(
    record: Record.Storage,
    position: Int,
    kind: Int,
    type index: inout Int,
    from place: inout Int,
    options: LocalCloudOptions
  ) -> SyncError? {
    let name = record.fields[position].name
    var order = 1
    while place < types[index].fields.count {
      order = UTF8Bytes.order(types[index].fields[place].name, name)
      if order >= 0 { break }
      place += 1
    }
    let isEncrypted = record.isEncrypted(name)
    if place < types[index].fields.count, order == 0 {
      let known = types[index].fields[place]
      if known.kind != kind {
        return SyncError(.invalidArguments, "the field \(name) has another type in the schema")
      }
      if known.isEncrypted != isEncrypted {
        return SyncError(
          .invalidArguments,
          "the field \(name) is \(known.isEncrypted ? "" : "not ")encrypted in the schema"
        )
      }
      return nil
    }
    guard options.schemaMode == .development else {
      return SyncError(.invalidArguments, "the schema has no field \(name)")
    }
    if let limit = options.schemaLimit?.fields, types[index].fields.count >= limit {
      return SyncError(.invalidArguments, "a record type has at most \(limit) fields")
    }
    let field = Field(name: name, kind: kind, isEncrypted: isEncrypted)
    types[index].fields.insert(field, at: place)
    hasChanged = true
    return nil
  }

  /// What the first save of a value fixes; nil for values that fix nothing.
  private static func kind(of value: FieldValue) -> Int? {
    switch value {
    case .null: nil
    case .list(let values): values.first.map { 32 + $0.kindIndex }
    default: value.kindIndex
    }
  }
}

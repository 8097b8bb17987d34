import CloudSyncCore

extension ModifyRequest {
  /// Judges the items by what they need of each other, until no more of them fail.
  ///
  /// A request of items that stay out of each other's way is gone through once.
  func settle() throws(LocalCloudStoreError) {
    try settle(over: knownSchema())
    // One of the account's own is held with the account.
    guard schema.hasChanged, !options.hasSchemaPerAccount else { return }
    try store.lock(.schema)
    // Another account may have changed it since it was read.
    try settle(over: knownSchema())
  }

  /// Where the schema is kept.
  var schemaKey: String {
    options.hasSchemaPerAccount ? SchemaDocument.key(account: account.number) : SchemaDocument.key
  }

  private func knownSchema() throws(LocalCloudStoreError) -> SchemaDocument {
    var document = try store.document(schemaKey)
    // What all accounts of the store shared before each had one.
    if document == nil, options.hasSchemaPerAccount {
      document = try store.document(SchemaDocument.key)
    }
    if case .schema(let schema) = document?.content { return schema.unchanged }
    return SchemaDocument()
  }

  private func settle(over before: SchemaDocument) throws(LocalCloudStoreError) {
    let hasReferences = items.contains { $0.hasReferences }
    while true {
      let failures = errors.count
      schema = before
      if hasReferences { try checkReferences() }
      checkSchemaAndQuota()
      // Nothing of an atomic request that has a culprit is written.
      if errors.count == failures || isAtomic { return }
    }
  }

  // MARK: References

  private func checkReferences() throws(LocalCloudStoreError) {
    var links: [ByteKey: Int] = [:]
    for index in items.indices where items[index].hasReferences && errors[index] == nil {
      guard let edit = items[index].edit else { continue }
      if let error = try checkReferences(of: edit, server: items[index].old?.record, links: &links)
      {
        errors[index] = error
      }
    }
  }

  private func checkReferences(
    of edit: Record,
    server: Record?,
    links: inout [ByteKey: Int]
  ) throws(LocalCloudStoreError) -> SyncError? {
    if options.referenceCheck != .none, let parent = edit.parent, parent != server?.parent,
      try exists(recordID: parent) == false
    {
      return SyncError(.referenceViolation, "the parent \(parent) does not exist")
    }
    for field in edit.fields {
      let references = field.value.references
      if references.isEmpty { continue }
      let known = Set(server?[field.name]?.references ?? [])
      for reference in references where !known.contains(reference) {
        guard reference.recordID.zoneID == zone.zoneID,
          RecordRules.isName(reference.recordID.name)
        else {
          return SyncError(.invalidArguments, "references lead to records of the same zone")
        }
        let isDeleting = reference.action == .deleteSelf
        let isChecked = options.referenceCheck == .all || isDeleting
        if isChecked, options.referenceCheck != .none,
          try exists(recordID: reference.recordID) == false
        {
          return SyncError(.referenceViolation, "there is no record \(reference.recordID)")
        }
      }
    }
    let old = server?.deletionTargets ?? DeletionTargets()
    let merged = server?.applying(edit) ?? edit
    for target in merged.deletionTargets.names where !old.contains(name: target) {
      if let error = try count(target: target, links: &links) { return error }
    }
    return nil
  }

  /// Whether a record will be there after the request.
  private func exists(recordID: RecordID) throws(LocalCloudStoreError) -> Bool {
    guard recordID.zoneID == zone.zoneID else { return false }
    if let index = itemIndex(of: recordID.name) {
      if items[index].edit == nil { return false }
      // What fails because of another item of an atomic request is no culprit.
      if isAtomic || errors[index] == nil { return true }
      return items[index].old?.record != nil
    }
    return try store.item(named: recordID.name, in: key)?.record != nil
  }

  /// Counts one more record that goes with another; refuses it when there are enough.
  private func count(
    target: String,
    links: inout [ByteKey: Int]
  ) throws(LocalCloudStoreError) -> SyncError? {
    let limit = options.deletingReferenceLimit
    let present: Int
    if let known = links[ByteKey(target)] {
      present = known
    } else {
      present = try store.sources(of: target, in: key, limit: limit).count
    }
    links[ByteKey(target)] = present + 1
    guard present >= limit else { return nil }
    return SyncError(
      options.deletingReferenceCode,
      "at most \(limit) records are deleted together with one"
    )
  }

  // MARK: Schema and quota

  private func checkSchemaAndQuota() {
    let quota = account.quota ?? options.quota
    var left = Int64.max
    if let quota {
      left = quota.addingClamped(other: -account.usedBytes)
      for item in items where item.edit == nil { left = left.addingClamped(other: item.oldBytes) }
    }
    for index in items.indices where errors.isEmpty || errors[index] == nil {
      guard let edit = items[index].edit else { continue }
      if let error = schema.admit(edit: edit, options: options) {
        errors[index] = error
        continue
      }
      guard quota != nil else { continue }
      let growth = items[index].newBytes.addingClamped(other: -items[index].oldBytes)
      if growth > 0, growth > left {
        errors[index] = SyncError(.quotaExceeded, "the account's storage is full")
      } else {
        left = left.addingClamped(other: -growth)
      }
    }
  }
}

extension FieldValue {
  /// The references in the value.
  var references: [Reference] {
    switch self {
    case .reference(let reference): [reference]
    case .list(let values):
      values.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
    default: []
    }
  }
}

/// The records with which one is deleted: a list may have tens of thousands.
struct DeletionTargets {
  /// Their names, each once, in the order of fields.
  private(set) var names: [String] = []
  /// Looked into, never iterated.
  private var known: Set<ByteKey> = []

  mutating func add(name: String) {
    if known.insert(ByteKey(name)).inserted { names.append(name) }
  }

  func contains(name: String) -> Bool { known.contains(ByteKey(name)) }
}

extension Record {
  /// The records with which this one is deleted.
  var deletionTargets: DeletionTargets {
    var targets = DeletionTargets()
    let fields = storage.fields
    for index in fields.indices {
      switch fields[index].value {
      case .reference, .list: break
      default: continue
      }
      for reference in fields[index].value.references where reference.action == .deleteSelf {
        targets.add(name: reference.recordID.name)
      }
    }
    return targets
  }
}

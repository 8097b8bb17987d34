import CloudSyncCore

extension ModifyRequest {
  /// Writes what passed: saves, the tags of parents, deletions with what goes with them.
  func apply() throws(LocalCloudStoreError) {
    outcomes.reserveCapacity(items.count)
    response.savedRecords.reserveCapacity(operation.records.count)
    for index in items.indices where items[index].edit != nil {
      if let error = errors.isEmpty ? nil : errors[index] {
        fail(index: index, error: error)
      } else {
        try save(index: index)
      }
    }
    if options.touchesParents { try touchParents() }
    for index in items.indices where items[index].edit == nil {
      if let error = errors.isEmpty ? nil : errors[index] {
        fail(index: index, error: error)
      } else {
        try delete(name: items[index].recordID.name)
        response.deletedRecordIDs.append(items[index].recordID)
        outcomes.append(.deleted)
      }
    }
    account.position += 1
    zone.databasePosition = account.position
    try keepDocuments()
    if schema.hasChanged {
      try store.setDocument(StoreDocument(.schema(schema)), for: schemaKey)
    }
  }

  private func fail(index: Int, error: SyncError) {
    response.failures.append(ItemFailure(items[index].recordID, error))
    outcomes.append(.failed(error))
  }

  /// The next position of the feed.
  private func nextPosition() throws(LocalCloudStoreError) -> Int64 {
    zone.lastPosition += 1
    guard zone.lastPosition >> StoredZoneKey.positionBits == 0 else {
      throw LocalCloudStoreError(.limitReached, "the zone has had too many changes")
    }
    return zone.lastPosition
  }

  private func use(bytes: Int64) {
    account.usedBytes = max(0, account.usedBytes.addingClamped(other: bytes))
    zone.usedBytes = max(0, zone.usedBytes.addingClamped(other: bytes))
  }

  // MARK: Saves

  private func save(index: Int) throws(LocalCloudStoreError) {
    guard let edit = items[index].edit, let merged = items[index].merged else { return }
    let old = items[index].old
    let position = try nextPosition()
    let now = now
    let known = old?.record?.creationDate
    let storage = merged.storage
    storage.changeTag = ChangeTags.tag(zone: zone.number, position: position, seed: seed)
    storage.creationDate = known ?? now
    storage.modificationDate = now
    try store.setItem(
      StoredItem(position: position, content: .record(merged)),
      in: key,
      replacing: old?.position
    )
    try relink(name: items[index].recordID.name, from: old?.record, to: merged)
    use(bytes: items[index].newBytes.addingClamped(other: -items[index].oldBytes))
    outcomes.append(.saved(position, creationDate: known))
    let isAsSent = old?.record == nil && edit.fields.count == merged.fields.count
    response.savedRecords.append(isAsSent ? merged : answered(edit: edit, merged: merged))
  }

  /// What the client gets back: what it sent, with the new tag and dates.
  private func answered(edit: Record, merged: Record) -> Record {
    let copy = edit.storage.copy()
    copy.changeTag = merged.storage.changeTag
    copy.creationDate = merged.storage.creationDate
    copy.modificationDate = merged.storage.modificationDate
    return Record(storage: copy)
  }

  private func relink(
    name: String,
    from old: Record?,
    to new: Record?
  ) throws(LocalCloudStoreError) {
    let before = old?.deletionTargets ?? DeletionTargets()
    let after = new?.deletionTargets ?? DeletionTargets()
    for target in before.names where !after.contains(name: target) {
      try store.setLink(from: name, to: target, in: key, isPresent: false)
    }
    for target in after.names where !before.contains(name: target) {
      try store.setLink(from: name, to: target, in: key, isPresent: true)
    }
  }

  /// Gives the parents of saved records new change tags, unless they were saved themselves.
  private func touchParents() throws(LocalCloudStoreError) {
    var touched: [ByteKey: Bool] = [:]
    for index in items.indices where items[index].edit != nil {
      guard errors.isEmpty || errors[index] == nil,
        let parent = items[index].merged?.storage.parent,
        itemIndex(of: parent.name) == nil,
        touched.updateValue(true, forKey: ByteKey(parent.name)) == nil
      else { continue }
      guard let old = try store.item(named: parent.name, in: key),
        let record = old.record
      else { continue }
      let position = try nextPosition()
      let tag = ChangeTags.tag(zone: zone.number, position: position, seed: seed)
      try store.setItem(
        StoredItem(position: position, content: .record(record.withChangeTag(tag))),
        in: key,
        replacing: old.position
      )
    }
  }

  // MARK: Deletions

  /// Deletes a record, and then those that go with it, and those that go with them.
  private func delete(name: String) throws(LocalCloudStoreError) {
    var queue = [name]
    var next = 0
    while next < queue.count {
      let name = queue[next]
      next += 1
      guard let old = try store.item(named: name, in: key), let record = old.record else {
        continue
      }
      queue += try store.sources(of: name, in: key, limit: .max)
      let content = StoredItem.Content.tombstone(record.recordID, recordType: record.recordType)
      try store.setItem(
        StoredItem(position: try nextPosition(), content: content),
        in: key,
        replacing: old.position
      )
      try relink(name: name, from: record, to: nil)
      use(bytes: -record.quotaByteCount)
    }
  }
}

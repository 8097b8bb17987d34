import CloudSyncCore

extension ModifyRequest {
  /// Judges one item by itself, and returns what it counts for the request's limit.
  func examine(index: Int) throws(LocalCloudStoreError) -> Int {
    let byteCount = try examineContent(index: index)
    let recordID = items[index].recordID
    if errors[index] == nil, let error = assetErrors[recordID] { errors[index] = error }
    if let error = options.refusal?(recordID) { errors[index] = error }
    return byteCount
  }

  private func examineContent(index: Int) throws(LocalCloudStoreError) -> Int {
    guard let edit = items[index].edit else { return try examineDeletion(index: index) }
    let byteCount: Int
    do throws(RecordRuleViolation) {
      byteCount = try RecordRules.checkedByteCount(of: edit, zone: zone.zoneID)
    } catch {
      if case .size(let byteCount, _) = error.rule {
        errors[index] = SyncError(.limitExceeded, "\(error)")
        return byteCount
      }
      errors[index] = SyncError(.invalidArguments, "\(error)")
      return 0
    }
    let (hasReferences, assetBytes, nullCount, error) = content(of: edit)
    items[index].hasReferences = hasReferences || edit.storage.parent != nil
    if let error {
      errors[index] = error
      return byteCount
    }
    try merge(
      index: index,
      edit: edit,
      hasNulls: nullCount > 0,
      newBytes: assetBytes.addingClamped(other: Int64(byteCount))
    )
    return byteCount
  }

  private func examineDeletion(index: Int) throws(LocalCloudStoreError) -> Int {
    let recordID = items[index].recordID
    do throws(RecordRuleViolation) {
      try RecordRules.check(recordID, zone: zone.zoneID)
    } catch {
      errors[index] = SyncError(.invalidArguments, "\(error)")
      return 0
    }
    items[index].old = try store.item(named: recordID.name, in: key)
    if let record = items[index].old?.record {
      items[index].oldBytes = record.quotaByteCount
    } else if options.missingDeletion == .unknownItem {
      errors[index] = SyncError(.unknownItem, "there is no such record")
    }
    return recordID.name.utf8.count
  }

  /// Looks the record up, compares change tags, and makes the record that would be stored.
  private func merge(
    index: Int,
    edit: Record,
    hasNulls: Bool,
    newBytes: Int64
  ) throws(LocalCloudStoreError) {
    let old = try store.item(named: items[index].recordID.name, in: key)
    items[index].old = old
    let server = old?.record
    if let error = refusal(edit: edit, server: server) {
      errors[index] = error
      return
    }
    guard let server else {
      items[index].newBytes = newBytes
      let blank = Record(recordType: edit.recordType, recordID: edit.recordID)
      items[index].merged = hasNulls ? blank.applying(edit) : Record(storage: edit.storage.copy())
      if edit.byteCount > options.recordByteLimit { errors[index] = tooLarge }
      return
    }
    let merged = server.applying(edit)
    items[index].merged = merged
    items[index].oldBytes = server.quotaByteCount
    items[index].newBytes = merged.quotaByteCount
    if merged.byteCount > options.recordByteLimit { errors[index] = tooLarge }
  }

  private var tooLarge: SyncError {
    SyncError(.limitExceeded, "a record has at most \(options.recordByteLimit) bytes")
  }

  /// Why the save policy refuses an edit.
  private func refusal(edit: Record, server: Record?) -> SyncError? {
    let isChecked = options.savePolicy == .ifServerRecordUnchanged
    guard let server else {
      return isChecked && edit.changeTag != nil
        ? SyncError(.unknownItem, "the record was deleted, or never was") : nil
    }
    if isChecked, !UTF8Bytes.equal(edit.changeTag, server.changeTag) {
      let message =
        edit.changeTag == nil ? "the record exists already" : "the record was changed meanwhile"
      return SyncError(
        .serverRecordChanged,
        message,
        clientRecord: edit,
        serverRecord: engine.located(server)
      )
    }
    return UTF8Bytes.equal(edit.recordType, server.recordType)
      ? nil : SyncError(.invalidArguments, "the record has the type \(server.recordType)")
  }

  /// Looks at the values of an edit, and finds what no record may have.
  private func content(
    of edit: Record
  ) -> (hasReferences: Bool, assetBytes: Int64, nullCount: Int, error: SyncError?) {
    let storage = edit.storage
    var error: SyncError?
    var hasReferences = false
    var assetBytes: Int64 = 0
    var nullCount = 0
    if UTF8Bytes.equal(storage.recordType, RecordRules.shareRecordType) {
      error = SyncError(.invalidArguments, "a share is saved together with its root")
    }
    for index in storage.fields.indices {
      switch storage.fields[index].value {
      case .string, .int64, .double, .timestamp, .data, .location: continue
      case .null: nullCount += 1
      case .reference: hasReferences = true
      case .asset(let asset):
        if asset.byteCount > options.assetByteLimit {
          error = tooLarge(asset, in: storage.fields[index].name)
        }
        assetBytes = assetBytes.addingClamped(other: asset.byteCount)
      case .list(let values):
        let found = contentOfList(values: values, in: storage.fields[index].name)
        hasReferences = hasReferences || found.hasReferences
        assetBytes = assetBytes.addingClamped(other: found.assetBytes)
        error = error ?? found.error
      case .redacted:
        error = SyncError(.invalidArguments, "a redacted value cannot be saved")
      }
    }
    return (hasReferences, assetBytes, nullCount, error ?? encryptionError(storage: storage))
  }

  /// Lists have values of one kind, and no lists.
  private func contentOfList(
    values: [FieldValue],
    in field: String
  ) -> (hasReferences: Bool, assetBytes: Int64, error: SyncError?) {
    var hasReferences = false
    var assetBytes: Int64 = 0
    for value in values {
      let isGood =
        switch value {
        case .list, .null, .redacted: false
        default: value.kindIndex == values[0].kindIndex
        }
      guard isGood else {
        let message = "a list has values of one kind, and neither nulls nor lists"
        return (hasReferences, assetBytes, SyncError(.invalidArguments, message))
      }
      if case .reference = value { hasReferences = true }
      if case .asset(let asset) = value {
        guard asset.byteCount <= options.assetByteLimit else {
          return (hasReferences, assetBytes, tooLarge(asset, in: field))
        }
        assetBytes = assetBytes.addingClamped(other: asset.byteCount)
      }
    }
    return (hasReferences, assetBytes, nil)
  }

  private func tooLarge(_ asset: Asset, in field: String) -> SyncError {
    SyncError(
      .limitExceeded,
      "the file of the field \(field) has \(asset.byteCount) bytes, and an asset has at most"
        + " \(options.assetByteLimit)"
    )
  }

  /// References cannot be encrypted, and assets are so anyway.
  private func encryptionError(storage: Record.Storage) -> SyncError? {
    for key in storage.encryptedKeys {
      let (index, isFound) = storage.position(of: key)
      guard isFound else { continue }
      var value = storage.fields[index].value
      if case .list(let values) = value, let first = values.first { value = first }
      switch value {
      case .asset, .reference:
        return SyncError(.invalidArguments, "the field \(key) is of a kind that is not encrypted")
      default: continue
      }
    }
    return nil
  }
}

extension Record {
  /// What the record counts for an account's quota: its bytes and those of its assets.
  var quotaByteCount: Int64 {
    var sum = Int64(byteCount)
    let fields = storage.fields
    for index in fields.indices {
      switch fields[index].value {
      case .asset(let asset): sum = sum.addingClamped(other: asset.byteCount)
      case .list(let values):
        for case .asset(let asset) in values { sum = sum.addingClamped(other: asset.byteCount) }
      default: continue
      }
    }
    return sum
  }
}

extension Int64 {
  /// The sum, or the end of the range.
  func addingClamped(other: Int64) -> Int64 {
    let (sum, isOutOfReach) = addingReportingOverflow(other)
    return isOutOfReach ? (other < 0 ? .min : .max) : sum
  }
}

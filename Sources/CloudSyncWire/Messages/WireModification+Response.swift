package import CloudSyncCore

extension WireModification {
  // MARK: The server's side

  /// The body of the response: an element for each operation, in their order.
  ///
  /// - Parameters:
  ///   - response: What became of the items.
  ///   - assets: What is said of an asset.
  /// - Returns: The bytes.
  package func body(
    of response: ModifyOperation.Response,
    with assets: (Asset) -> WireAsset = { WireAsset($0) }
  ) -> [UInt8] {
    var saved: [RecordID: Record] = [:]
    for record in response.savedRecords { saved[record.recordID] = record }
    let failed = Self.failures(of: response)
    let deleted = Set(response.deletedRecordIDs)
    var writer = JSONWriter(reserving: 256 * (1 + order.count))
    writer.object { writer in
      writer.name("records")
      writer.array(order) { writer, place in
        let recordID = recordID(at: place)
        if let record = saved[recordID] {
          WireRecord.write(record, hasFields: false, to: &writer)
        } else if deleted.contains(recordID) {
          WireRecord.writeDeletion(DeletedRecord(recordID: recordID), to: &writer)
        } else {
          // What the cloud has not told about is not known to be done.
          let error = failed[recordID] ?? SyncError(.serverResponseLost, "the item has no response")
          let (failure, _) = WireErrorTable.failure(of: error)
          writer.object { writer in
            writer.member("recordName", recordID.name)
            failure.writeMembers(with: assets, to: &writer)
          }
        }
      }
    }
    return writer.bytes
  }

  /// The errors of items; of the server's records in conflicts no more than a response has room for: a client looks
  /// the others up.
  private static func failures(of response: ModifyOperation.Response) -> [RecordID: SyncError] {
    var failed: [RecordID: SyncError] = [:]
    var bytesLeft = conflictByteLimit
    for failure in response.failures {
      var error = failure.error
      if let record = error.serverRecord {
        if bytesLeft <= 0 { error.serverRecord = nil }
        bytesLeft -= record.byteCount
      }
      failed[failure.recordID] = error
    }
    return failed
  }

  /// The bytes of server records with which a response tells no more of them.
  private static let conflictByteLimit = 4_000_000

  private func recordID(at place: Int) -> RecordID {
    let saves = operation.records
    return place < saves.count
      ? saves[place].recordID : operation.recordIDsToDelete[place - saves.count]
  }

  // MARK: The client's side

  /// Reads the body of a response with the status 200.
  ///
  /// - Parameters:
  ///   - bytes: The body.
  ///   - assets: Says where the file of an asset lies.
  /// - Returns: The response, or the error of the request: a response that does not fit it counts as lost.
  package func response(
    reading bytes: [UInt8],
    with assets: @escaping (WireAsset) -> Asset? = WireAsset.unlocated
  ) -> Result<ModifyOperation.Response, SyncError> {
    do throws(WireError) {
      let items = try Self.items(reading: bytes, in: zoneID, with: assets)
      guard let items else { return .failure(lost("it has no records")) }
      return items.count == order.count
        ? response(of: items) : .failure(lost("it has \(items.count) records"))
    } catch {
      return .failure(lost("\(error)"))
    }
  }

  private func lost(_ reason: String) -> SyncError {
    SyncError(.serverResponseLost, "the response does not fit the request: \(reason)")
  }

  /// Reads a list of records; nil if the body has none.
  static func items(
    reading bytes: [UInt8],
    in zoneID: ZoneID,
    with assets: @escaping (WireAsset) -> Asset?
  ) throws(WireError) -> [WireItem]? {
    var reader = JSONReader(bytes)
    var items: [WireItem]?
    try reader.object { (reader, name) throws(WireError) in
      guard name == "records" else { return try reader.skipValue() }
      var found: [WireItem] = []
      try reader.array { (reader) throws(WireError) in
        found.append(try WireItem(in: zoneID, with: assets, from: &reader))
      }
      items = found
    }
    try reader.end()
    return items
  }

  private func response(of items: [WireItem]) -> Result<ModifyOperation.Response, SyncError> {
    var response = ModifyOperation.Response()
    for (place, item) in zip(order, items) {
      let recordID = recordID(at: place)
      guard let name = item.name, UTF8Bytes.equal(name, recordID.name) else {
        return .failure(lost("a record is missing or in another place"))
      }
      let edit = place < operation.records.count ? operation.records[place] : nil
      if let failure = item.failure {
        let error = WireErrorTable.error(of: failure, edit: edit)
        response.failures.append(ItemFailure(recordID, error))
      } else if let edit {
        guard let tag = item.changeTag, !item.isDeleted else {
          return .failure(lost("a saved record has no change tag"))
        }
        // What was sent is known here; of the service's other fields nothing may be written back.
        var record = edit.withChangeTag(tag)
        record.creationDate = item.creationDate
        record.modificationDate = item.modificationDate
        response.savedRecords.append(record)
      } else {
        guard item.isDeleted else { return .failure(lost("a deletion is not confirmed")) }
        response.deletedRecordIDs.append(recordID)
      }
    }
    return .success(response)
  }
}

extension WireAsset {
  /// The asset by its digest, its file wherever that may be; nil if the service does not tell the digest.
  package static let unlocated: @Sendable (WireAsset) -> Asset? = { asset in
    guard let sha256 = asset.sha256, let byteCount = asset.byteCount else { return nil }
    return Asset(sha256: sha256, byteCount: byteCount, location: asset.downloadURL ?? "")
  }
}

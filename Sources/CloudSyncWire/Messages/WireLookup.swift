package import CloudSyncCore

/// `records/lookup`: records by their names.
package struct WireLookup: Sendable {
  package var zoneID: ZoneID
  package var names: [String]

  package init(_ recordIDs: [RecordID], zoneID: ZoneID) {
    self.zoneID = zoneID
    names = recordIDs.map(\.name)
  }

  package var recordIDs: [RecordID] { names.map { RecordID(name: $0, zoneID: zoneID) } }

  /// The body of the request.
  package var body: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.name("zoneID")
      WireZone.write(zoneID, to: &writer)
      writer.member("numbersAsStrings", true)
      writer.name("records")
      writer.array(names) { writer, name in writer.object { $0.member("recordName", name) } }
    }
    return writer.bytes
  }

  /// Reads the body of a request.
  ///
  /// - Parameters:
  ///   - bytes: The body.
  ///   - scope: The database that the request is for.
  ///   - limit: How many names are read at most.
  /// - Throws: What is wrong with the bytes.
  package init(reading bytes: [UInt8], scope: DatabaseScope, limit: Int) throws(WireError) {
    var reader = JSONReader(bytes)
    var zone: ZoneID?
    var names: [String] = []
    try reader.object { (reader, name) throws(WireError) in
      switch name {
      case "zoneID": zone = try WireZone.read(scope: scope, from: &reader)
      case "records":
        try reader.array { (reader) throws(WireError) in
          guard names.count < limit else {
            throw reader.excess("a request has at most \(limit) names")
          }
          var recordName: String?
          try reader.object { (reader, name) throws(WireError) in
            if name == "recordName" {
              recordName = try reader.string()
            } else {
              try reader.skipValue()
            }
          }
          guard let recordName else { throw reader.failure("a record has no name") }
          names.append(recordName)
        }
      default: try reader.skipValue()
      }
    }
    try reader.end()
    zoneID = zone ?? ZoneID(name: ZoneID.defaultZoneName, scope: scope)
    self.names = names
  }

  /// What is said of a record that a response has no room for.
  private static let notLookedUp = SyncError(.limitExceeded, "look it up in a request of its own")

  /// The body of the response: an element for each name, in their order.
  package func body(
    of response: FetchOperation.Response,
    with assets: (Asset) -> WireAsset = { WireAsset($0) }
  ) -> [UInt8] {
    var found: [RecordID: Record] = [:]
    for record in response.changedRecords { found[record.recordID] = record }
    var failed: [RecordID: SyncError] = [:]
    for failure in response.failures { failed[failure.recordID] = failure.error }
    var writer = JSONWriter(reserving: 256 * (1 + names.count))
    writer.object { writer in
      writer.name("records")
      writer.array(recordIDs) { writer, recordID in
        if let record = found[recordID] {
          return WireRecord.write(record, with: assets, to: &writer)
        }
        let error = failed[recordID] ?? Self.notLookedUp
        writer.object { writer in
          writer.member("recordName", recordID.name)
          WireErrorTable.failure(of: error).failure.writeMembers(with: assets, to: &writer)
        }
      }
    }
    return writer.bytes
  }

  /// Reads the list of records; what is wrong with one of them does not concern the others.
  private static func items(
    reading bytes: [UInt8],
    in zoneID: ZoneID,
    with assets: @escaping (WireAsset) -> Asset?
  ) throws(WireError) -> [Result<WireItem, WireError>] {
    var reader = JSONReader(bytes)
    var items: [Result<WireItem, WireError>] = []
    try reader.object { (reader, name) throws(WireError) in
      guard name == "records" else { return try reader.skipValue() }
      try reader.array { (reader) throws(WireError) in
        items.append(
          try reader.apart { (reader) throws(WireError) in
            try WireItem(in: zoneID, with: assets, from: &reader)
          }
        )
      }
    }
    try reader.end()
    return items
  }

  /// Reads the body of a response with the status 200.
  package func response(
    reading bytes: [UInt8],
    with assets: @escaping (WireAsset) -> Asset? = WireAsset.unlocated
  ) -> Result<FetchOperation.Response, SyncError> {
    let items: [Result<WireItem, WireError>]
    do throws(WireError) {
      items = try Self.items(reading: bytes, in: zoneID, with: assets)
    } catch { return .failure(SyncError(.networkFailure, "the response is no response: \(error)")) }
    guard items.count == names.count else {
      return .failure(SyncError(.networkFailure, "the response does not fit the names"))
    }
    var response = FetchOperation.Response(changeToken: nil)
    for (recordID, result) in zip(recordIDs, items) {
      let item: WireItem
      do throws(WireError) { item = try result.get() } catch {
        let reason = SyncError(.invalidArguments, "the record cannot be read: \(error)")
        response.failures.append(ItemFailure(recordID, reason))
        continue
      }
      guard let name = item.name, UTF8Bytes.equal(name, recordID.name) else {
        return .failure(SyncError(.networkFailure, "a record is missing or in another place"))
      }
      if let record = item.record(in: zoneID) {
        response.changedRecords.append(record)
        continue
      }
      let error =
        item.failure.map { WireErrorTable.error(of: $0) }
        ?? (item.isDeleted
          ? SyncError(.unknownItem, "the record was deleted")
          : SyncError(.invalidArguments, "the record has no type"))
      // There was no room for it: nothing is known of it yet.
      if error.code == .limitExceeded, !response.isEmpty { continue }
      response.failures.append(ItemFailure(recordID, error))
    }
    return .success(response)
  }
}

extension FetchOperation.Response {
  /// Whether it says nothing of any record.
  fileprivate var isEmpty: Bool {
    changedRecords.isEmpty && deletedRecords.isEmpty && failures.isEmpty
  }
}

package import CloudSyncCore

extension WireZoneChanges {
  // MARK: The server's side

  /// The body of the response.
  package func body(
    of result: Result<FetchOperation.Response, SyncError>,
    with assets: (Asset) -> WireAsset = { WireAsset($0) }
  ) -> [UInt8] {
    var count = 1
    if case .success(let page) = result { count += page.changedRecords.count }
    var writer = JSONWriter(reserving: 256 * count)
    writer.object { writer in
      writer.name("zones")
      writer.array([result]) { writer, result in
        writer.object { writer in
          writer.name("zoneID")
          WireZone.write(zoneID, to: &writer)
          switch result {
          case .success(let page): Self.write(page, with: assets, to: &writer)
          case .failure(let error):
            WireErrorTable.failure(of: error).failure.writeMembers(with: assets, to: &writer)
          }
        }
      }
    }
    return writer.bytes
  }

  private static func write(
    _ page: FetchOperation.Response,
    with assets: (Asset) -> WireAsset,
    to writer: inout JSONWriter
  ) {
    if let token = page.changeToken { writer.member("syncToken", WireToken.text(token)) }
    writer.member("moreComing", page.hasMore)
    if page.startedOver { writer.member("startedOver", true) }
    let elements =
      page.changedRecords.map(Element.record) + page.deletedRecords.map(Element.deletion)
      + page.failures.map(Element.failure)
    writer.name("records")
    writer.array(elements) { writer, element in
      switch element {
      case .record(let record): WireRecord.write(record, with: assets, to: &writer)
      case .deletion(let deleted): WireRecord.writeDeletion(deleted, to: &writer)
      case .failure(let failed):
        writer.object { writer in
          writer.member("recordName", failed.recordID.name)
          WireErrorTable.failure(of: failed.error).failure.writeMembers(with: assets, to: &writer)
        }
      }
    }
  }

  private enum Element {
    case record(Record)
    case deletion(DeletedRecord)
    case failure(ItemFailure)
  }

  // MARK: The client's side

  /// Reads the body of a response with the status 200.
  ///
  /// - Parameters:
  ///   - bytes: The body.
  ///   - assets: Says where the file of an asset lies.
  /// - Returns: The page, or the error of the request. A record that cannot be read is among the page's
  ///   failures; bytes that end early are no page at all.
  package func page(
    reading bytes: [UInt8],
    with assets: @escaping (WireAsset) -> Asset? = WireAsset.unlocated
  ) -> Result<FetchOperation.Response, SyncError> {
    do throws(WireError) {
      var reader = JSONReader(bytes)
      var found: Result<FetchOperation.Response, SyncError>?
      try reader.object { (reader, name) throws(WireError) in
        guard name == "zones" else { return try reader.skipValue() }
        try reader.array { (reader) throws(WireError) in
          guard found == nil else { throw reader.failure("there are several zones") }
          found = try zone(from: &reader, with: assets)
        }
      }
      try reader.end()
      guard let found else { return .failure(Self.unreadable("it has no zone")) }
      return found
    } catch { return .failure(Self.unreadable("\(error)")) }
  }

  private static func unreadable(_ reason: String) -> SyncError {
    SyncError(.networkFailure, "the response is no page: \(reason)")
  }

  private func zone(
    from reader: inout JSONReader,
    with assets: @escaping (WireAsset) -> Asset?
  ) throws(WireError) -> Result<FetchOperation.Response, SyncError> {
    var page = FetchOperation.Response(changeToken: nil)
    var failure = WireFailure.Members()
    try reader.object { (reader, name) throws(WireError) in
      if try reader.isNull() { return }
      switch name {
      case "syncToken": page.changeToken = WireToken.token(syncToken: try reader.string())
      case "moreComing": page.hasMore = try reader.bool()
      case "startedOver": page.startedOver = try reader.bool()
      case "records":
        try reader.array { (reader) throws(WireError) in
          try read(from: &reader, into: &page, with: assets)
        }
      default: try failure.take(name, in: zoneID, from: &reader)
      }
    }
    if let failure = failure.failure { return .failure(WireErrorTable.error(of: failure)) }
    guard page.changeToken != nil else { return .failure(Self.unreadable("it has no token")) }
    return .success(page)
  }

  /// Reads one element of the page; what is wrong with it does not concern the others.
  private func read(
    from reader: inout JSONReader,
    into page: inout FetchOperation.Response,
    with assets: @escaping (WireAsset) -> Asset?
  ) throws(WireError) {
    let start = reader
    let result = try reader.apart { (reader) throws(WireError) in
      try WireItem(in: zoneID, with: assets, from: &reader)
    }
    let item: WireItem
    do throws(WireError) { item = try result.get() } catch {
      let recordID = try Self.recordID(of: start, in: zoneID)
      let reason = SyncError(.invalidArguments, "the record cannot be read: \(error)")
      page.failures.append(ItemFailure(recordID, reason))
      return
    }
    guard let name = item.name else { throw start.failure("a record has no name") }
    let recordID = RecordID(name: name, zoneID: zoneID)
    if let failure = item.failure {
      page.failures.append(ItemFailure(recordID, WireErrorTable.error(of: failure)))
    } else if item.isDeleted {
      page.deletedRecords.append(DeletedRecord(recordID: recordID, recordType: item.recordType))
    } else if let record = item.record(in: zoneID) {
      page.changedRecords.append(record)
    } else {
      let reason = SyncError(.invalidArguments, "the record has no type")
      page.failures.append(ItemFailure(recordID, reason))
    }
  }

  private static func recordID(
    of element: JSONReader,
    in zoneID: ZoneID
  ) throws(WireError) -> RecordID {
    var reader = element
    var recordName: String?
    try reader.object { (reader, name) throws(WireError) in
      if name == "recordName" { recordName = try reader.string() } else { try reader.skipValue() }
    }
    guard let recordName else { throw reader.failure("a record has no name") }
    return RecordID(name: recordName, zoneID: zoneID)
  }
}

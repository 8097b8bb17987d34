package import CloudSyncCore

/// `records/modify`: what a client asks for.
package struct WireModification: Sendable {
  package var zoneID: ZoneID
  package var isAtomic: Bool
  package var operation: ModifyOperation
  /// The order of the operations: a place among the records to save, or behind them among those to delete.
  package var order: [Int]

  /// The request that carries an operation out.
  package init(_ operation: ModifyOperation, zoneID: ZoneID, isAtomic: Bool) {
    self.zoneID = zoneID
    self.isAtomic = isAtomic
    self.operation = operation
    order = Array(0..<operation.itemCount)
  }

  /// What is said of an asset in a field of a record, whose file is uploaded by then.
  package typealias Assets = (Asset, _ record: RecordID, _ field: String) -> WireAsset

  /// The body of the request.
  ///
  /// - Parameter assets: What is said of assets.
  /// - Returns: The bytes.
  package func body(with assets: Assets = { asset, _, _ in WireAsset(asset) }) -> [UInt8] {
    var writer = JSONWriter(reserving: 256 + operation.records.count * 256)
    writer.object { writer in
      writer.name("zoneID")
      WireZone.write(zoneID, to: &writer)
      writer.member("atomic", isAtomic)
      writer.member("numbersAsStrings", true)
      writer.name("operations")
      writer.array(order) { writer, place in
        writer.object { writer in write(place, with: assets, to: &writer) }
      }
    }
    return writer.bytes
  }

  private func write(
    _ place: Int,
    with assets: Assets,
    to writer: inout JSONWriter
  ) {
    let saves = operation.records
    if place < saves.count {
      let record = saves[place]
      writer.member("operationType", record.changeTag == nil ? "create" : "update")
      writer.name("record")
      WireRecord.write(
        edit: record,
        with: { assets($0, record.recordID, $1) },
        to: &writer
      )
    } else {
      writer.member("operationType", "forceDelete")
      writer.name("record")
      writer.object {
        $0.member("recordName", operation.recordIDsToDelete[place - saves.count].name)
      }
    }
  }

  // MARK: Reading

  /// Reads the body of a request.
  ///
  /// - Parameters:
  ///   - bytes: The body.
  ///   - scope: The database that the request is for.
  ///   - assets: Finds an asset that the account has uploaded.
  ///   - limit: How many operations are read at most.
  /// - Throws: What is wrong with the bytes.
  package init(
    reading bytes: [UInt8],
    scope: DatabaseScope,
    with assets: @escaping (WireAsset) -> Asset?,
    limit: Int
  ) throws(WireError) {
    var reader = JSONReader(bytes)
    var zone: ZoneID?
    var isAtomic: Bool?
    var operations: JSONReader?
    try reader.object { (reader, name) throws(WireError) in
      switch name {
      case "zoneID": zone = try WireZone.read(scope: scope, from: &reader)
      case "atomic": isAtomic = try reader.bool()
      case "operations": operations = try reader.deferred()
      default: try reader.skipValue()
      }
    }
    try reader.end()
    guard var operations else { throw reader.failure("there are no operations") }
    zoneID = zone ?? ZoneID(name: ZoneID.defaultZoneName, scope: scope)
    self.isAtomic = isAtomic ?? true
    operation = ModifyOperation()
    order = []
    try readOperations(from: &operations, with: assets, limit: limit)
  }

  private mutating func readOperations(
    from reader: inout JSONReader,
    with assets: @escaping (WireAsset) -> Asset?,
    limit: Int
  ) throws(WireError) {
    var records: [Record] = []
    var deletions: [RecordID] = []
    var saves: [Bool] = []
    let zoneID = zoneID
    try reader.array { (reader) throws(WireError) in
      guard saves.count < limit else {
        throw reader.excess("a request has at most \(limit) operations")
      }
      var type: String?
      var item: WireItem?
      try reader.object { (reader, name) throws(WireError) in
        switch name {
        case "operationType": type = try reader.string()
        case "record": item = try WireItem(in: zoneID, with: assets, from: &reader)
        default: try reader.skipValue()
        }
      }
      guard let type, let item, let name = item.name else {
        throw reader.failure("an operation has a type, and a record with a name")
      }
      if type == "forceDelete" {
        deletions.append(RecordID(name: name, zoneID: zoneID))
        saves.append(false)
        return
      }
      guard var record = item.record(in: zoneID) else {
        throw reader.failure("a record to save has a type")
      }
      record.creationDate = nil
      record.modificationDate = nil
      switch (type, record.changeTag) {
      case ("create", _): record.changeTag = nil
      case ("update", .some): break
      case ("update", nil): throw reader.failure("an update has a change tag")
      default: throw reader.failure("the operation type \(type.prefix(40)) is not served")
      }
      records.append(record)
      saves.append(true)
    }
    operation = ModifyOperation(records: records, recordIDsToDelete: deletions)
    var (nextSave, nextDeletion) = (0, records.count)
    for isSave in saves {
      order.append(isSave ? nextSave : nextDeletion)
      if isSave { nextSave += 1 } else { nextDeletion += 1 }
    }
  }
}

/// A modification that has been checked, reduced and measured, and only lacks its name.
struct Submission: Sendable {
  private let operation: ModifyOperation
  private let records: [Record]
  private let ancestors: [(index: Int, record: Record)]
  private let byteCount: Int

  /// Checks an operation against the rules of the cloud.
  ///
  /// - Throws: The first violation, before anything is queued.
  init(_ operation: ModifyOperation, zoneID: ZoneID) throws(RecordRuleViolation) {
    self.operation = operation
    var bytes = 0
    for record in operation.records { try RecordRules.check(record, zone: zoneID) }
    for recordID in operation.recordIDsToDelete {
      try RecordRules.check(recordID, zone: zoneID)
      bytes += recordID.name.utf8.count
    }
    try Self.checkUniqueness(operation)
    if operation.ancestors.isEmpty {
      records = operation.records
      ancestors = []
    } else {
      (records, ancestors) = Self.reduce(operation)
    }
    for record in records { bytes += record.byteCount }
    byteCount = bytes
  }

  func operation(named id: OperationID) -> ModifyOperation {
    operation.submitted(as: id, records: records, ancestors: ancestors, byteCount: byteCount)
  }

  private static func checkUniqueness(
    _ operation: ModifyOperation
  ) throws(RecordRuleViolation) {
    guard operation.itemCount > 1 else { return }
    var seen: Set<RecordID> = []
    seen.reserveCapacity(operation.itemCount)
    for record in operation.records where !seen.insert(record.recordID).inserted {
      throw RecordRuleViolation(duplicate: record.recordID)
    }
    for recordID in operation.recordIDsToDelete where !seen.insert(recordID).inserted {
      throw RecordRuleViolation(duplicate: recordID)
    }
  }

  /// Reduces whole records to the fields that differ from what the app edited.
  private static func reduce(
    _ operation: ModifyOperation
  ) -> ([Record], [(index: Int, record: Record)]) {
    var byID: [RecordID: Record] = [:]
    byID.reserveCapacity(operation.ancestors.count)
    for ancestor in operation.ancestors { byID[ancestor.recordID] = ancestor }
    var records: [Record] = []
    var ancestors: [(index: Int, record: Record)] = []
    records.reserveCapacity(operation.records.count)
    for (index, record) in operation.records.enumerated() {
      guard let ancestor = byID[record.recordID] else {
        records.append(record)
        continue
      }
      records.append(record.edit(from: ancestor))
      ancestors.append((index, ancestor))
    }
    return (records, ancestors)
  }
}

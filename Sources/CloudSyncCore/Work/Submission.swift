/// A modification that has been checked, reduced and measured, and only lacks its name.
struct Submission: Sendable {
  private let operation: ModifyOperation
  private let records: [Record]
  private let ancestors: [(index: Int, record: Record)]
  private let byteCount: Int

  /// Checks an operation against the rules of the cloud.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - zoneID: The session's zone.
  ///   - unit: The nanoseconds that the cloud's timestamps are multiples of.
  /// - Throws: The first violation, before anything is queued.
  init(
    _ operation: ModifyOperation,
    zoneID: ZoneID,
    timestampUnit unit: Int64 = 1
  ) throws(RecordRuleViolation) {
    let operation =
      unit > 1 ? operation.replacingRecords { $0.roundingTimestamps(to: unit) } : operation
    self.operation = operation
    var bytes = 0
    for record in operation.records {
      bytes += try RecordRules.checkedByteCount(of: record, zone: zoneID)
    }
    for recordID in operation.recordIDsToDelete {
      try RecordRules.check(recordID, zone: zoneID)
      bytes += recordID.name.utf8.count
    }
    try Self.checkUniqueness(operation: operation)
    if operation.id != .unassigned {
      // Submitted before: its records are reduced already, and lack what did not differ.
      records = operation.records
      ancestors = operation.records.indices.compactMap { index in
        operation.ancestor(at: index).map { (index, $0) }
      }
      byteCount = bytes
    } else if operation.ancestors.isEmpty {
      records = operation.records
      ancestors = []
      byteCount = bytes
    } else {
      (records, ancestors) = Self.reduce(operation: operation)
      byteCount =
        records.reduce(0) { $0 + $1.byteCount }
        + operation.recordIDsToDelete.reduce(0) { $0 + $1.name.utf8.count }
    }
  }

  func operation(named id: OperationID) -> ModifyOperation {
    operation.submitted(as: id, records: records, ancestors: ancestors, byteCount: byteCount)
  }

  private static func checkUniqueness(
    operation: ModifyOperation
  ) throws(RecordRuleViolation) {
    guard operation.itemCount > 1, mayHaveTwins(operation: operation) else { return }
    var seen: Set<RecordID> = []
    seen.reserveCapacity(operation.itemCount)
    for record in operation.records where !seen.insert(record.recordID).inserted {
      throw RecordRuleViolation(duplicate: record.recordID)
    }
    for recordID in operation.recordIDsToDelete where !seen.insert(recordID).inserted {
      throw RecordRuleViolation(duplicate: recordID)
    }
  }

  /// Whether two records may be the same: seen from their hashes, which is faster than a set.
  private static func mayHaveTwins(operation: ModifyOperation) -> Bool {
    var hashes: [UInt64] = []
    hashes.reserveCapacity(operation.itemCount)
    for record in operation.records { hashes.append(record.storage.recordID.stableHash) }
    for recordID in operation.recordIDsToDelete { hashes.append(recordID.stableHash) }
    hashes.sort()
    for index in 1..<hashes.count where hashes[index] == hashes[index - 1] { return true }
    return false
  }

  /// Reduces whole records to the fields that differ from what the app edited.
  private static func reduce(
    operation: ModifyOperation
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

extension ModifyOperation {
  /// The operation as a session queues it: checked, reduced to what differs from the ancestors, and
  /// named.
  ///
  /// ``CloudSyncSession/modify(_:completion:accepted:)`` does this. A middleware that puts another
  /// operation in the place of one keeps its name, and a test names an operation by the state that
  /// is to take it:
  ///
  /// ```swift
  /// let operation = ModifyOperation(records: [record])
  /// let submitted = try operation.submitted(as: state.nextOperationID, in: state.zoneID)
  /// state.reduce(.doWork(.modify(submitted)), at: now)
  /// ```
  ///
  /// - Parameters:
  ///   - id: The name.
  ///   - zoneID: The session's zone.
  /// - Returns: The operation to queue.
  /// - Throws: The rule that a record breaks.
  public func submitted(
    as id: OperationID,
    in zoneID: ZoneID
  ) throws(RecordRuleViolation) -> ModifyOperation {
    try Submission(self, zoneID: zoneID).operation(named: id)
  }
}

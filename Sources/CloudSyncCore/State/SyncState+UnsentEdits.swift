extension SyncState {
  /// An edit of which nothing was published yet that says that the cloud has it.
  public struct UnsentEdit: Sendable, Hashable {
    /// The record.
    public let recordID: RecordID
    /// What is sent; nil for a deletion.
    public let edit: Record?
    /// Whether the edit is the whole record: the cloud was found to have it so.
    public let isWhole: Bool

    init(recordID: RecordID, edit: Record?, isWhole: Bool = false) {
      self.recordID = recordID
      self.edit = edit
      self.isWhole = isWhole
    }

    init(_ change: PendingChange) { self.init(recordID: change.recordID, edit: change.edit) }

    /// Nil if the cloud does not have it.
    init?(_ ending: ParkedChange) {
      switch ending {
      case .saved(let record): self.init(recordID: record.recordID, edit: record)
      case .alreadyInCloud(let record):
        self.init(recordID: record.recordID, edit: record, isWhole: true)
      case .deleted(let recordID): self.init(recordID: recordID, edit: nil)
      case .refused, .dropped: return nil
      }
    }

    /// The record as the user sees it.
    ///
    /// - Parameter record: The record as the cloud has it, with the edits before this one; nil if there is none.
    /// - Returns: The record with the edit; nil if the edit deletes it.
    public func applied(to record: Record?) -> Record? {
      isWhole ? edit : edit?.merged(into: record)
    }
  }

  /// What a storage layer that keeps what the cloud has lacks of the user's edits, in the order in which it is to be
  /// applied to what is stored.
  ///
  /// These are the edits that wait, are on their way or are parked, as they will be sent; and those that are in the cloud,
  /// as pages have told of them since, while their operation waits for others of its records. What was withdrawn,
  /// dropped or refused is not among them. An edit leaves them when its ``CloudChange`` is on its way.
  ///
  /// - Complexity: O(*n* log *n*) in the number of records of operations that have not completed.
  public var unsentEdits: [UnsentEdit] {
    var edits: [UnsentEdit] = []
    for open in modify.open {
      edits += open.settled.compactMap { UnsentEdit($0) }
    }
    edits += parked.inOrder.map { UnsentEdit($0.entry) }
    edits += modify.batch.map { UnsentEdit($0) } + parked.returning.map { UnsentEdit($0) }
    var taken = modify.cursor
    for operation in modify.queue {
      let records = operation.records
      edits += records.dropFirst(taken).map { UnsentEdit(recordID: $0.recordID, edit: $0) }
      edits += operation.recordIDsToDelete.dropFirst(max(0, taken - records.count))
        .map { UnsentEdit(recordID: $0, edit: nil) }
      taken = 0
    }
    return edits
  }
}

import CloudSyncCore

extension NotesDevice {
  /// How an app hands its edits to its session.
  enum Submission {
    /// It calls the session, and waits for nothing.
    case call
    /// It also wants to know when the session has taken the edit.
    case accepted
    /// It has a middleware of its own make the modification from what another one tells.
    case middleware
  }

  /// Submits edits of different records as one operation.
  func submit(edits: [DeviceEdit]) {
    let (session, submission, process) = memory.withLock {
      ($0.session, $0.submission, $0.process)
    }
    guard let session, let process, !edits.isEmpty else { return }
    let isWhole = submission != .middleware && drawsWholeRecords
    let operation = operation(of: edits, isWhole: isWhole)
    do throws(RecordRuleViolation) {
      switch submission {
      case .call: try session.modify(operation)
      case .accepted: try session.modify(operation, accepted: { process.didAccept($0) })
      case .middleware: try session.modify(DraftMiddleware.draft(of: operation))
      }
    } catch {
      preconditionFailure("The device made an edit that breaks a rule: \(error).")
    }
  }

  /// An operation that makes edits; with whole records it also tells what they were made from.
  private func operation(of edits: [DeviceEdit], isWhole: Bool) -> ModifyOperation {
    disk.withLock { disk in
      var records: [Record] = []
      var deletions: [RecordID] = []
      var ancestors: [Record] = []
      for edit in edits {
        let recordID = RecordID(name: edit.name, zoneID: setup.zoneID)
        switch edit.change {
        case .delete: deletions.append(recordID)
        case .set(let field):
          let server = disk.notes[edit.name]?.server
          let record = Record(
            recordType: "Note",
            recordID: recordID,
            fields: [field: .int64(edit.number)],
            changeTag: server?.changeTag
          )
          // One that the cloud has already, as a page has told, would be no edit of the record.
          guard isWhole, let ancestor = disk.notes[edit.name]?.ancestor(of: edit),
            ancestor[field] != record[field]
          else {
            records.append(record)
            continue
          }
          records.append(ancestor.applying(record))
          ancestors.append(ancestor)
        }
      }
      return ModifyOperation(
        records: records,
        recordIDsToDelete: deletions,
        userInfo: ["edits": edits.map { "\($0.number)" }.joined(separator: " ")],
        ancestors: ancestors
      )
    }
  }

  /// The numbers of the edits that an operation carries.
  static func numbers(of operation: ModifyOperation) -> [Int64] {
    operation.userInfo?["edits"]?.split(separator: " ").compactMap { Int64($0) } ?? []
  }

  // MARK: Calling off

  /// Calls off all that is not in the cloud, as a user does with a button; when all has ended, it is submitted anew.
  ///
  /// Until then edits are stored and wait: one that was submitted meanwhile would go before older ones.
  func callOff() {
    guard memory.withLock({ $0.process }) != nil else { return }
    disk.withLock { $0.isCallingOff = true }
    memory.withLock { memory in
      memory.isReady = false
      memory.calledOff = []
    }
    // By then it has everything that was submitted before.
    afterAll { device, session in
      let open = session.state.modifyQueue.map(\.id)
      device.memory.withLock { $0.calledOff = Set(open) }
      for id in open { session.cancel(id) }
      device.endCallingOff()
    }
  }

  /// Does something when the session has done all that it was called for, and has told what came of it.
  func afterAll(_ body: @escaping @Sendable (NotesDevice, CloudSyncSession) -> Void) {
    guard let session, let process = memory.withLock({ $0.process }) else { return }
    session.snapshot { [weak self, weak session] _ in
      process.executor.run { [weak self, weak session] in
        guard process.isAlive, let self, let session else { return }
        body(self, session)
      }
    }
  }

  /// Takes that an operation has ended, however it did.
  func ended(operation: ModifyOperation) {
    let wasCalledOff = memory.withLock { $0.calledOff.remove(operation.id) != nil }
    if wasCalledOff { endCallingOff() }
  }

  private func endCallingOff() {
    guard memory.withLock({ $0.calledOff.isEmpty }) else { return }
    // What was answered before has ended then, too.
    afterAll { device, _ in
      guard device.memory.withLock({ !$0.isReady && $0.calledOff.isEmpty }) else { return }
      device.disk.withLock { $0.isCallingOff = false }
      device.memory.withLock { $0.isReady = true }
      for edit in device.unsent(besides: []) { device.submit(edits: [edit]) }
    }
  }

  // MARK: What was handed back

  /// Submits once more what was refused and handed back.
  func submitRefused() {
    guard memory.withLock({ $0.isReady }) else { return }
    let edits = disk.withLock { disk -> [DeviceEdit] in
      var refused: [Pending] = []
      for name in disk.notes.keys.sorted() {
        disk.notes[name]?.dropSuperseded()
        refused += disk.notes[name]?.pending.filter(\.isRefused) ?? []
        disk.forgetIfEmpty(name: name)
      }
      refused.sort { $0.turn < $1.turn }
      for pending in refused { disk.putLast(pending) }
      return refused.map(\.edit)
    }
    for edit in edits { submit(edits: [edit]) }
  }

  /// The edits that the session does not have, in the order in which they are to be submitted now.
  ///
  /// - Parameter known: The numbers of those that it has.
  /// - Returns: The others.
  func unsent(besides known: Set<Int64>) -> [DeviceEdit] {
    disk.withLock { disk in
      var unsent: [Pending] = []
      for name in disk.notes.keys.sorted() {
        disk.notes[name]?.dropSuperseded()
        // What was parked belongs to the session until it is saved.
        let pending = disk.notes[name]?.pending ?? []
        unsent += pending.filter { !$0.isParked && !known.contains($0.edit.number) }
      }
      unsent.sort { $0.turn < $1.turn }
      for pending in unsent { disk.putLast(pending) }
      return unsent.map(\.edit)
    }
  }
}

/// The app's own middleware: it makes a modification from what an empty one says that is to be done, as a re-run of a log
/// does it again.
struct DraftMiddleware: Middleware {
  private static let (change, edits) = ("draft", "edits")

  /// A modification that changes nothing, and says what another one changes: of each record its name, a field, its number
  /// and the change tag.
  static func draft(of operation: ModifyOperation) -> ModifyOperation {
    var lines = operation.records.flatMap { record in
      record.fields.map { field in
        let number = if case .int64(let number) = field.value { number } else { Int64(0) }
        return "\(record.recordID.name) \(field.name) \(number) \(record.changeTag ?? "")"
      }
    }
    lines += operation.recordIDsToDelete.map(\.name)
    // An operation with edits of its own would be taken for the one that is to be made.
    let told = operation.userInfo?[edits] ?? ""
    return ModifyOperation(userInfo: [change: ([told] + lines).joined(separator: "\n")])
  }

  func run(
    event: SyncEvent,
    context: MiddlewareContext,
    next: (SyncEvent) -> SyncEvent
  ) -> SyncEvent {
    let reduced = next(event)
    guard case .doWork(.modify(let draft)) = reduced, let text = draft.userInfo?[Self.change] else {
      return reduced
    }
    context.dispatch(.doWork(.modify(Self.operation(of: text, in: context.state.zoneID))))
    return reduced
  }

  private static func operation(of text: String, in zoneID: ZoneID) -> ModifyOperation {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let told = String(lines.removeFirst())
    var records: [Record] = []
    var deletions: [RecordID] = []
    for line in lines {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      let recordID = RecordID(name: String(words[0]), zoneID: zoneID)
      guard words.count == 4, let number = Int64(words[2]) else {
        deletions.append(recordID)
        continue
      }
      records.append(
        Record(
          recordType: "Note",
          recordID: recordID,
          fields: [String(words[1]): .int64(number)],
          changeTag: words[3].isEmpty ? nil : String(words[3])
        )
      )
    }
    return ModifyOperation(
      records: records,
      recordIDsToDelete: deletions,
      userInfo: [Self.edits: told]
    )
  }
}

extension NotesDevice.Disk {
  /// Puts an edit behind all others: it is submitted now.
  mutating func putLast(_ pending: NotesDevice.Pending) {
    var pending = pending
    pending.isRefused = false
    turns += 1
    pending.turn = turns
    let name = pending.edit.name
    notes[name]?.pending.removeAll { $0.edit.number == pending.edit.number }
    notes[name, default: NotesDevice.Note()].pending.append(pending)
  }
}

extension NotesDevice.Note {
  /// The record from which an edit was made, unsent edits included; nil if there is none.
  fileprivate func ancestor(of edit: DeviceEdit) -> Record? {
    guard var record = server else { return nil }
    for earlier in pending.prefix(while: { $0.edit.number != edit.number }) {
      guard case .set(let field) = earlier.edit.change else { return nil }
      record[field] = .int64(earlier.edit.number)
    }
    return record
  }

  /// Forgets refused edits over which a later one of this device goes.
  mutating func dropSuperseded() {
    guard pending.contains(where: \.isRefused) else { return }
    let all = pending
    pending.removeAll { one in
      guard one.isRefused else { return false }
      return all.contains { $0.edit.number > one.edit.number && $0.edit.replaces(one.edit) }
    }
  }
}

extension DeviceEdit {
  /// Whether nothing is left of an earlier edit of the same record.
  func replaces(_ earlier: DeviceEdit) -> Bool {
    switch (change, earlier.change) {
    case (.delete, _), (.set, .delete): true
    case (.set(let field), .set(let other)): field == other
    }
  }
}

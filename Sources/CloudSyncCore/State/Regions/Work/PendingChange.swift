/// One record's edit on its way: an entry of the batch, or a parked one.
package struct PendingChange: Sendable {
  package enum Intent: Sendable {
    case save(Record)
    case delete(RecordID)
  }

  package var intent: Intent
  /// What the app edited, if it said so: where the record has to be made anew, its other fields come from here.
  package var ancestor: Record?
  /// The bytes it takes in a request.
  package var byteCount: Int
  /// The number of the first operation that it carries; 0 when all of them have been answered.
  package var source: UInt64
  /// Whether the server's record has to be looked up before it is sent.
  package var needsLookup = false
  /// Whether it was parked before.
  package var wasParked = false
  /// A deletion that takes one more attempt because the record is to be saved again.
  package var isLastTry = false
  /// Whether edits of different versions of the record were merged: the server's is looked up and
  /// the conflict resolver asked, because neither change tag stands for both.
  package var isMixed = false
  /// What befell it; nil for a change that nothing has befallen, as nearly all of them.
  ///
  /// Entries are copied often, so all that is rare lies here.
  var history: CopyOnWrite<ChangeHistory>?

  package init(intent: Intent, ancestor: Record?, byteCount: Int, source: UInt64) {
    self.intent = intent
    self.ancestor = ancestor
    self.byteCount = byteCount
    self.source = source
  }

  package var recordID: RecordID {
    switch intent {
    case .save(let record): record.recordID
    case .delete(let recordID): recordID
    }
  }

  package var isSave: Bool { if case .save = intent { true } else { false } }

  package var edit: Record? {
    if case .save(let record) = intent { record } else { nil }
  }

  /// Takes over the edit of a later operation, if both can travel as one.
  ///
  /// A later field goes over an earlier one and a deletion over a save; a save never joins an
  /// earlier deletion.
  package mutating func merge(_ later: PendingChange) -> Bool {
    switch (intent, later.intent) {
    case (.save(let earlier), .save(let record)):
      if !UTF8Bytes.equal(earlier.changeTag, record.changeTag) { isMixed = true }
      rememberSent()
      adoptAncestor(of: later, editing: record, after: earlier)
      let merged = earlier.merging(later: record)
      intent = .save(merged)
      byteCount = sent(merged).byteCount
    case (.save, .delete):
      intent = later.intent
      byteCount = later.byteCount
      isMixed = false
      needsLookup = false
    case (.delete, .delete): break
    case (.delete, .save): return false
    }
    if isMixed { needsLookup = true }
    // What the cloud may have is no longer what is sent.
    endDoubt()
    endProbing()
    add(later.source)
    return true
  }

  /// Measures what a later edit alone changes against what that edit was made of: the cloud's record may have come in
  /// between, or the app may have had an edit of its own in the earlier ancestor that is submitted only now.
  private mutating func adoptAncestor(
    of later: PendingChange,
    editing edit: Record,
    after earlier: Record
  ) {
    if let ancestor {
      self.ancestor = MergedAncestor.of(
        ancestor,
        adopting: later.ancestor,
        editing: edit,
        after: earlier
      )
    } else if let known = later.ancestor, !earlier.fields.contains(where: \.value.isNull) {
      // The earlier one was made of nothing that is known: so was each of its fields, also beside those of the later one.
      self.ancestor = MergedAncestor.of(
        Record(recordType: known.recordType, recordID: known.recordID),
        adopting: known,
        editing: edit,
        after: earlier
      )
    }
    guard hasHistory, !resolutions.isEmpty else { return }
    // Whether it was made of what the conflict was resolved to is looked at when the next one is.
    if later.ancestor != nil { isMixed = true }
    resolutions[resolutions.count - 1].see(edit, madeOf: later.ancestor)
  }

  package mutating func add(_ number: UInt64) {
    if source == 0 { source = number } else { change { $0.furtherSources.append(number) } }
  }

  /// The numbers of the operations that it carries, one for each edit.
  var sources: [UInt64] { source == 0 ? [] : [source] + furtherSources }

  /// Forgets that it has edits of an operation; returns how many they are.
  mutating func remove(_ number: UInt64) -> Int {
    let all = sources
    let left = all.filter { $0 != number }
    if left.count == all.count { return 0 }
    source = left.first ?? 0
    if !furtherSources.isEmpty { furtherSources = Array(left.dropFirst()) }
    return all.count - left.count
  }

  /// Takes the record that a conflict was resolved to.
  ///
  /// - Parameters:
  ///   - record: The edit that is sent next.
  ///   - server: The server's record that it is made of; nil if there is none.
  mutating func resolve(to record: Record, over server: Record?) {
    endProbing()
    endDoubt()
    forgetSent()
    if let server {
      resolutions =
        resolutions.suffix(Resolution.most - 1) + [
          Resolution(server: server, resolved: record)
        ]
    } else if hasHistory {
      resolutions = []
    }
    // A conflict that had to be looked up has been counted.
    if !needsLookup { conflicts += 1 }
    isMixed = false
    needsLookup = false
    intent = .save(record)
    byteCount = sent(record).byteCount
  }

  /// Has it sent with the others, because the server's record could not be looked up.
  ///
  /// One of two versions is sent as a new record, which the cloud refuses if it has one: the change tag of either may be
  /// the present one, and would let it pass.
  mutating func giveUpLookup() {
    needsLookup = false
    guard isMixed, let edit else { return }
    setChangeTag(tag: nil)
    byteCount = sent(edit.withChangeTag(nil)).byteCount
  }

  package mutating func setChangeTag(tag: String?) {
    guard case .save(var record) = intent else { return }
    record.replaceChangeTag(by: tag)
    intent = .save(record)
  }

  /// Gives the entry a fresh attempt and budget.
  package mutating func refresh() {
    if history != nil {
      change {
        $0.conflicts = 0
        $0.failures = 0
        $0.trials.refusedAt = 0
      }
      endProbing()
    }
    needsLookup = isMixed
  }
}

extension PendingChange {
  /// An edit as it is sent: without a change tag the record has to be made anew, with the other fields where the app gave
  /// them.
  ///
  /// They are no edit: if the record is there already, only what was edited meets it as a conflict.
  @inline(__always)
  func sent(_ edit: Record) -> Record {
    guard let ancestor, edit.changeTag == nil else { return edit }
    return ancestor.applying(edit).withChangeTag(nil)
  }

  /// Forgets what belongs to a server that has gone: the tag, and conflicts with it.
  mutating func forgetServer() {
    setChangeTag(tag: nil)
    if ancestor != nil, let edit { byteCount = sent(edit).byteCount }
    isMixed = false
    needsLookup = false
    guard hasHistory else { return }
    resolutions = []
    conflicts = 0
    forgetDoubt()
  }
}

extension PendingChange: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("save", edit)
      if case .delete(let recordID) = intent { $0.field("delete", recordID) }
      $0.field("ancestor", ancestor)
      $0.field("resolutions", resolutions)
      $0.field("byteCount", byteCount)
      $0.field("source", source)
      $0.field("furtherSources", furtherSources)
      $0.field("conflicts", conflicts)
      $0.field("failures", failures)
      $0.field("needsLookup", needsLookup)
      $0.field("wasParked", wasParked)
      $0.field("isLastTry", isLastTry)
      $0.field("isMixed", isMixed)
      let trials = history?.value.trials
      $0.field("trials", trials?.isEmpty == false ? trials : nil)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    if let record: Record = try reader.field("save") {
      intent = .save(record)
    } else {
      intent = .delete(try reader.field("delete"))
    }
    ancestor = try reader.field("ancestor")
    var history = ChangeHistory()
    history.resolutions = try reader.field("resolutions")
    byteCount = try reader.amount("byteCount")
    source = try reader.field("source")
    history.furtherSources = try reader.field("furtherSources")
    history.conflicts = try reader.amount("conflicts")
    history.failures = try reader.amount("failures")
    needsLookup = try reader.field("needsLookup")
    wasParked = try reader.field("wasParked")
    isLastTry = try reader.field("isLastTry")
    isMixed = try reader.field("isMixed")
    history.trials = try reader.field("trials") ?? Trials()
    try reader.endObject()
    self.history = history.isEmpty ? nil : CopyOnWrite(history)
  }
}

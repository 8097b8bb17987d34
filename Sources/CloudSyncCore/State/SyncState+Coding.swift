extension SyncState: CodedValue {
  /// The version of the coded form; a snapshot of another version is refused.
  package static let formatVersion = 2

  // Compiled for the formats of logs here: elsewhere every type is looked up at run time.
  @_specialize(where W == LineWriter)
  @_specialize(where W == SkeletonDigest)
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("eventCount", eventCount)
      $0.field("epoch", epoch)
      $0.field("nonce", nonce)
      $0.field("nextOperation", nextOperation)
      $0.field("nextAttempt", nextAttempt)
      $0.field("answered", answered)
      $0.field("lastTurn", lastTurn)
      $0.field("gate", gate)
      $0.field("flight", flight)
      $0.field("modify", modify)
      $0.field("notifications", notifications)
      $0.field("progress", progress)
      $0.field("cold", cold.value)
    }
  }

  @_specialize(where R == LineReader)
  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    // Every region is read below; an empty state gives them a place.
    self.init(zoneID: ZoneID(name: "none"))
    try reader.beginObject()
    eventCount = try reader.number("eventCount")
    epoch = try reader.number("epoch")
    nonce = try reader.field("nonce")
    nextOperation = try reader.number("nextOperation")
    nextAttempt = try reader.number("nextAttempt")
    answered = try reader.field("answered")
    lastTurn = try reader.field("lastTurn")
    gate = try reader.field("gate")
    flight = try reader.field("flight")
    modify = try reader.field("modify")
    notifications = try reader.field("notifications")
    progress = try reader.field("progress")
    cold = CopyOnWrite(try reader.field("cold") as ColdState)
    try reader.endObject()
    if let broken = brokenInvariant(.all) {
      throw reader.failure("the state contradicts itself: \(broken)")
    }
  }
}

extension ColdState: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    configuration = try coder.field("configuration") { $0.configuration }
    phase = try coder.field("phase") { $0.phase }
    redeliversOnStart = try coder.field("redeliversOnStart") { $0.redeliversOnStart }
    account = try coder.field("account") { $0.account }
    zone = try coder.field("zone") { $0.zone }
    fetch = try coder.field("fetch") { $0.fetch }
    parked = try coder.field("parked") { $0.parked }
    sizing = try coder.field("sizing") { $0.sizing }
    lastError = try coder.field("lastError") { $0.lastError }
    timeout = configuration.timeout.clampedNanoseconds
  }
}

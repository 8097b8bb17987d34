/// An announcement that is decided and not yet known to be delivered.
///
/// What is large and not the rule lies behind a reference.
package enum SyncNotification: Sendable {
  /// Every record of the operation is saved, deleted or parked.
  case modifyCompleted(ModifyOperation, ModifyOperation.Response)
  /// The operation was given up; the response tells what had been saved, and what was not.
  indirect case modifyFailed(ModifyOperation, SyncError, ModifyOperation.Response)
  /// A page of a fetch; the last one completes the operation.
  indirect case fetchPage(FetchOperation, FetchOperation.Response)
  /// The fetch ended without its last page.
  indirect case fetchFailed(FetchOperation, SyncError)
  /// Something happened to a parked record whose operations have been answered before.
  indirect case parked(ParkedChange)
}

/// What happened to a parked record after its operation had completed without it.
public enum ParkedChange: Sendable {
  /// It is saved now; the record holds what was sent and its new change tag.
  case saved(Record)
  /// The cloud has it already: the record as the cloud has it, which may hold others' edits too.
  case alreadyInCloud(Record)
  /// It is deleted now.
  case deleted(RecordID)
  /// It was sent again and refused again.
  case refused(RecordID, SyncError)
  /// It was given up: dropped by the app, or with its zone, account or session.
  case dropped(RecordID, SyncError)
}

extension ParkedChange {
  /// The record.
  public var recordID: RecordID {
    switch self {
    case .saved(let record), .alreadyInCloud(let record): record.recordID
    case .deleted(let recordID), .refused(let recordID, _), .dropped(let recordID, _): recordID
    }
  }
}

/// The notes, numbered over the life of a state.
package struct PendingNotifications: Sendable {
  package var queue = PersistentQueue<SyncNotification>()
  /// The number of the first note in the queue.
  package var first: UInt64 = 1

  package init() {}

  /// The number that the next note gets.
  package var end: UInt64 { first + UInt64(queue.count) }

  package mutating func add(_ note: SyncNotification) { queue.append(note) }

  package subscript(number: UInt64) -> SyncNotification { queue[Int(number - first)] }

  /// Whether a page is among the notes.
  package func announces(_ page: PageID) -> Bool {
    queue.contains { note in
      if case .fetchPage(_, let response) = note { response.page == page } else { false }
    }
  }

  /// Forgets the notes before a number; false if there are none.
  package mutating func drop(before number: UInt64) -> Bool {
    guard number > first, !queue.isEmpty else { return false }
    while first < number, queue.popFirst() != nil { first += 1 }
    return true
  }
}

extension ParkedChange: CodedValue {
  private static let names: [StaticString] = [
    "saved", "alreadyInCloud", "deleted", "refused", "dropped",
  ]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .saved(let record):
        $0.tag(0, of: Self.names)
        $0.field("record", record)
      case .alreadyInCloud(let record):
        $0.tag(1, of: Self.names)
        $0.field("record", record)
      case .deleted(let recordID):
        $0.tag(2, of: Self.names)
        $0.field("recordID", recordID)
      case .refused(let recordID, let error):
        $0.tag(3, of: Self.names)
        $0.field("recordID", recordID)
        $0.field("error", error)
      case .dropped(let recordID, let error):
        $0.tag(4, of: Self.names)
        $0.field("recordID", recordID)
        $0.field("error", error)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0: self = .saved(try reader.field("record"))
    case 1: self = .alreadyInCloud(try reader.field("record"))
    case 2: self = .deleted(try reader.field("recordID"))
    case 3: self = .refused(try reader.field("recordID"), try reader.field("error"))
    default: self = .dropped(try reader.field("recordID"), try reader.field("error"))
    }
    try reader.endObject()
  }
}

extension SyncNotification: CodedValue {
  private static let names: [StaticString] = [
    "modifyCompleted", "modifyFailed", "fetchPage", "fetchFailed", "parked",
  ]

  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.key("kind")
      switch self {
      case .modifyCompleted(let operation, let response):
        $0.tag(0, of: Self.names)
        $0.field("operation", operation)
        $0.field("response", response)
      case .modifyFailed(let operation, let error, let response):
        $0.tag(1, of: Self.names)
        $0.field("operation", operation)
        $0.field("error", error)
        $0.field("response", response)
      case .fetchPage(let operation, let response):
        $0.tag(2, of: Self.names)
        $0.field("operation", operation)
        $0.field("response", response)
      case .fetchFailed(let operation, let error):
        $0.tag(3, of: Self.names)
        $0.field("operation", operation)
        $0.field("error", error)
      case .parked(let change):
        $0.tag(4, of: Self.names)
        $0.field("change", change)
      }
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    try reader.key("kind")
    switch try reader.tag(of: Self.names) {
    case 0:
      self = .modifyCompleted(try reader.field("operation"), try reader.field("response"))
    case 1:
      self = .modifyFailed(
        try reader.field("operation"),
        try reader.field("error"),
        try reader.field("response")
      )
    case 2: self = .fetchPage(try reader.field("operation"), try reader.field("response"))
    case 3: self = .fetchFailed(try reader.field("operation"), try reader.field("error"))
    default: self = .parked(try reader.field("change"))
    }
    try reader.endObject()
  }
}

extension PendingNotifications: CodedStruct {
  package init<C: FieldCoder<Self>>(fields coder: inout C) throws(C.Failure) {
    first = try coder.number("first") { $0.first }
    queue = try coder.field("queue") { $0.queue }
    try coder.check { first == 0 ? "announcements count from 1" : nil }
  }
}

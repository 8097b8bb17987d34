import CloudSyncCore

/// A stretch of an account's history: its changes from one on, up to the next mark.
///
/// Each opening of a store makes a mark before its first change of an account, with a random number. A store that
/// was restored from a backup and changed since has other numbers at the places that were lost, however many
/// changes were made.
struct HistoryMark: Sendable, Hashable {
  /// Counts the marks of an account; 0 is the stretch before the first.
  var index: Int64 = 0
  /// No other mark has it.
  var number: UInt64 = 0
  /// The number of the first change that was made under it.
  var first: Int64 = 0
}

extension HistoryMark: CodedValue {
  func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("index", index)
      $0.field("number", number)
      $0.field("first", first)
    }
  }

  init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    index = try reader.field("index")
    number = try reader.field("number")
    first = try reader.field("first")
    try reader.endObject()
  }
}

/// A moment of an account's history: who was told of it has seen everything up to there.
struct HistoryPlace: Sendable, Hashable {
  /// Tells accounts apart by name: their numbers may be given again after a backup was restored.
  var account: UInt64 = 0
  /// The index of the mark under which the last change was made.
  var index: Int64 = 0
  /// The number of that mark.
  var number: UInt64 = 0
  /// How many changes had been made.
  var position: Int64 = 0
}

extension AccountDocument {
  /// Where the account's history stands.
  func place(of identity: AccountIdentity) -> HistoryPlace {
    HistoryPlace(
      account: UTF8Bytes.stableHash(text: identity.value, seed: 0),
      index: mark.index,
      number: mark.number,
      position: position
    )
  }
}

/// Some of an account's marks, in order: all but the last lie in documents of a fixed number each.
struct HistoryDocument: CodedValue {
  /// How many marks a document has.
  static let count: Int64 = 128
  static func key(account: Int64, number: Int64) -> String { "marks/\(account)/\(number)" }

  var marks: [HistoryMark] = []

  func write<W: CodedWriter>(to writer: inout W) { writer.object { $0.field("marks", marks) } }

  init() {}

  init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    marks = try reader.field("marks")
    try reader.endObject()
  }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Records to save and to delete, submitted together.
///
/// An operation is a unit of submission and of completion, not a transaction: its records may
/// travel in several requests, or together with those of its neighbours. It completes when every
/// record of it is saved, deleted, or parked.
///
/// The fields of a record to save are the edit, not the whole record: a field that is present is
/// set, `.null` removes it, an absent field stays as the server has it.
public struct ModifyOperation: Sendable, Identifiable {
  /// What the operation holds, behind one reference: queues of operations are copied often.
  private final class Contents: Sendable {
    let id: OperationID
    let records: [Record]
    let recordIDsToDelete: [RecordID]
    let byteCount: Int
    /// What few operations have.
    private let rare: Rare?

    var hasRare: Bool { rare != nil }
    var ancestors: [Record] { rare?.ancestors ?? [] }
    /// Once submitted: the indexes of the records that the ancestors belong to, ascending.
    var ancestorIndexes: [Int] { rare?.ancestorIndexes ?? [] }
    var checkpointID: UUID? { rare?.checkpointID }
    var userInfo: [UserInfoEntry]? { rare?.userInfo }

    init(
      id: OperationID,
      records: [Record],
      recordIDsToDelete: [RecordID],
      ancestors: [Record],
      ancestorIndexes: [Int],
      checkpointID: UUID?,
      userInfo: [UserInfoEntry]?,
      byteCount: Int
    ) {
      self.id = id
      self.records = records
      self.recordIDsToDelete = recordIDsToDelete
      self.byteCount = byteCount
      if ancestors.isEmpty, ancestorIndexes.isEmpty, checkpointID == nil, userInfo == nil {
        rare = nil
      } else {
        rare = Rare(
          ancestors: ancestors,
          ancestorIndexes: ancestorIndexes,
          checkpointID: checkpointID,
          userInfo: userInfo
        )
      }
    }
  }

  private final class Rare: Sendable {
    let ancestors: [Record]
    let ancestorIndexes: [Int]
    let checkpointID: UUID?
    let userInfo: [UserInfoEntry]?

    init(
      ancestors: [Record],
      ancestorIndexes: [Int],
      checkpointID: UUID?,
      userInfo: [UserInfoEntry]?
    ) {
      self.ancestors = ancestors
      self.ancestorIndexes = ancestorIndexes
      self.checkpointID = checkpointID
      self.userInfo = userInfo
    }
  }

  private let contents: Contents

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - records: The edits to save, each record at most once.
  ///   - recordIDsToDelete: The records to delete, none of them also saved.
  ///   - checkpointID: A name of the app's for everything submitted up to this operation.
  ///   - userInfo: Whatever the app wants to find in the completion.
  ///   - ancestors: The records that the app edited, whole. A record that has one is taken as whole
  ///     too: it is reduced to the fields that differ when it is submitted, and the ancestor goes
  ///     to the conflict resolver. Where the record has to be made anew, because it or its zone is
  ///     gone, the ancestor's other fields are sent with the edit; if another device has made it
  ///     before, they change nothing.
  public init(
    records: [Record] = [],
    recordIDsToDelete: [RecordID] = [],
    checkpointID: UUID? = nil,
    userInfo: [String: String]? = nil,
    ancestors: [Record] = []
  ) {
    contents = Contents(
      id: .unassigned,
      records: records,
      recordIDsToDelete: recordIDsToDelete,
      ancestors: ancestors,
      ancestorIndexes: [],
      checkpointID: checkpointID,
      userInfo: userInfo.map(UserInfoEntry.sorted),
      byteCount: 0
    )
  }

  private init(contents: Contents) { self.contents = contents }

  /// The name that `modify(_:)` gave it; ``OperationID/unassigned`` before.
  public var id: OperationID { contents.id }
  /// The edits to save.
  public var records: [Record] { contents.records }
  /// The records to delete.
  public var recordIDsToDelete: [RecordID] { contents.recordIDsToDelete }
  /// The records that the app edited.
  public var ancestors: [Record] { contents.ancestors }
  /// The app's name for everything submitted up to this operation.
  public var checkpointID: UUID? { contents.checkpointID }
  /// Whatever the app wants to find in the completion.
  public var userInfo: [String: String]? {
    contents.userInfo.map { entries in
      Dictionary(entries.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
    }
  }

  /// How many records the operation saves and deletes.
  public var itemCount: Int { contents.records.count + contents.recordIDsToDelete.count }
  /// The bytes of its records, known once it is submitted.
  package var byteCount: Int { contents.byteCount }

  /// The same operation as it is queued: named, checked, and measured.
  ///
  /// - Parameters:
  ///   - id: The name.
  ///   - records: The edits, in the order of the operation's own records.
  ///   - ancestors: Those ancestors that belong to an edit, with its index, ascending.
  ///   - byteCount: The bytes of the records and of the names to delete.
  /// - Returns: The operation to put into the queue.
  package func submitted(
    as id: OperationID,
    records: [Record],
    ancestors: [(index: Int, record: Record)] = [],
    byteCount: Int
  ) -> Self {
    Self(
      contents: Contents(
        id: id,
        records: records,
        recordIDsToDelete: contents.recordIDsToDelete,
        ancestors: ancestors.map(\.record),
        ancestorIndexes: ancestors.map(\.index),
        checkpointID: contents.checkpointID,
        userInfo: contents.userInfo,
        byteCount: byteCount
      )
    )
  }

  /// The same operation with other content in its records and ancestors.
  package func replacingRecords(_ replace: (Record) -> Record) -> Self {
    Self(
      contents: Contents(
        id: contents.id,
        records: contents.records.map(replace),
        recordIDsToDelete: contents.recordIDsToDelete,
        ancestors: contents.ancestors.map(replace),
        ancestorIndexes: contents.ancestorIndexes,
        checkpointID: contents.checkpointID,
        userInfo: contents.userInfo,
        byteCount: contents.byteCount
      )
    )
  }

  /// The records, saves before deletions, from an index on.
  package func itemIDs(from start: Int) -> [RecordID] {
    let saves = contents.records.count
    if start >= saves { return Array(contents.recordIDsToDelete.dropFirst(start - saves)) }
    return contents.records.dropFirst(start).map(\.recordID) + contents.recordIDsToDelete
  }

  /// The bytes of one item in a request; a deletion's are those of its name.
  package func byteCount(ofItem index: Int) -> Int {
    let saves = contents.records.count
    if index >= saves { return contents.recordIDsToDelete[index - saves].name.utf8.count }
    return saves == 1 && contents.recordIDsToDelete.isEmpty && contents.byteCount > 0
      ? contents.byteCount : contents.records[index].byteCount
  }

  /// What a queue keeps of an operation that was given up: nothing but its place.
  package var withdrawn: Self {
    Self(
      contents: Contents(
        id: id,
        records: [],
        recordIDsToDelete: [],
        ancestors: [],
        ancestorIndexes: [],
        checkpointID: nil,
        userInfo: nil,
        byteCount: -1
      )
    )
  }

  /// The same operation without a name, which no queue takes.
  var unnamed: Self {
    id == .unassigned ? self : submitted(as: .unassigned, records: records, byteCount: 0)
  }

  /// Whether the operation was given up and announces nothing any more.
  package var isWithdrawn: Bool { byteCount < 0 }

  /// The ancestor of the record at an index, in a submitted operation that has one.
  package func ancestor(at index: Int) -> Record? {
    guard contents.hasRare else { return nil }
    let indexes = contents.ancestorIndexes
    let place = indexes.indices.firstPlace { indexes[$0] >= index }
    return place < indexes.count && indexes[place] == index ? contents.ancestors[place] : nil
  }
}

/// One entry of an operation's user info.
struct UserInfoEntry: Sendable, Hashable {
  let key: String
  let value: String

  /// The entries of a dictionary in the order of their keys' bytes.
  static func sorted(_ dictionary: [String: String]) -> [UserInfoEntry] {
    dictionary.map { UserInfoEntry(key: $0.key, value: $0.value) }
      .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }
}

extension UserInfoEntry: CodedValue {
  func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("key", $0.disclosed(key, as: .userInfoKey))
      $0.field("value", $0.disclosed(value, as: .userInfo))
    }
  }

  init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    key = try reader.field("key")
    value = try reader.field("value")
    try reader.endObject()
  }
}

extension ModifyOperation: CodedValue {
  package func write<W: CodedWriter>(to writer: inout W) {
    writer.object {
      $0.field("id", contents.id)
      $0.field("records", contents.records)
      $0.field("recordIDsToDelete", contents.recordIDsToDelete)
      $0.field("ancestors", contents.ancestors)
      $0.field("ancestorIndexes", contents.ancestorIndexes)
      $0.field("checkpointID", contents.checkpointID?.uuidString)
      $0.field("userInfo", contents.userInfo)
      $0.field("byteCount", contents.byteCount)
    }
  }

  package init<R: CodedReader>(from reader: inout R) throws(CodedError) {
    try reader.beginObject()
    let id: OperationID = try reader.field("id")
    let records: [Record] = try reader.field("records")
    let deletions: [RecordID] = try reader.field("recordIDsToDelete")
    let ancestors: [Record] = try reader.field("ancestors")
    try reader.key("ancestorIndexes")
    let indexes = try reader.array { (reader) throws(CodedError) in try reader.readAmount() }
    let checkpoint: String? = try reader.field("checkpointID")
    let userInfo: [UserInfoEntry]? = try reader.field("userInfo")
    let byteCount = try reader.amount("byteCount")
    if let checkpoint, UUID(uuidString: checkpoint) == nil {
      throw reader.failure("“\(checkpoint)” is not a UUID")
    }
    guard indexes.isEmpty || indexes.count == ancestors.count else {
      throw reader.failure("ancestors and their indexes differ in number")
    }
    try reader.endObject()
    contents = Contents(
      id: id,
      records: records,
      recordIDsToDelete: deletions,
      ancestors: ancestors,
      ancestorIndexes: indexes,
      checkpointID: checkpoint.flatMap(UUID.init(uuidString:)),
      userInfo: userInfo,
      byteCount: byteCount
    )
  }
}

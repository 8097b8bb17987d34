#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore
import CloudSyncTestSupport

/// The cloud of the property tests: per account one zone with change tags and a feed of changes.
///
/// Every version of a record has a number, its revision; the change tag is made of it. Who wrote a
/// field last, and when, is remembered, so that a test can tell whose work was undone.
struct PropertyCloud: Sendable {
  struct Options: Sendable {
    var isAtomic = true
    var knowsTokens = true
    /// Whether a conflict comes with the server's record.
    var tellsServerRecord = true
    /// Whether refused items of an atomic request come as an error.
    var failsAsError = false
    var shufflesAnswers = false
    var pageSize = 4
  }

  /// Who wrote a field, and with which revision.
  struct Writer: Sendable {
    var isOther: Bool
    var revision: Int
  }

  struct Stored: Sendable {
    var record: Record
    var revision: Int
    var writers: [String: Writer]
  }

  struct Zone: Sendable {
    var instance: Int
    var records: [String: Stored] = [:]
    /// The last change of each record, in order.
    var log: [(revision: Int, name: String)] = []
    /// Tokens of an earlier generation have expired.
    var expired = 0
  }

  /// An item of a request as the cloud judges it.
  enum Verdict: Sendable {
    case done
    case failed(SyncError)
  }

  let options: Options
  var mood = CloudBehavior(itemLimit: nil, refused: [], isFull: false)
  var zones: [String: Zone] = [:]
  var losses: [String: ZoneLoss] = [:]
  /// Who is signed in on the device.
  var account: String? = "A"
  /// What a provider says beside that.
  var trouble: AccountStatus?
  var revision = 0
  private var instances = 0
  /// How often tokens have expired.
  private var generation = 0
  private var answers: [WriteToken: ModifyOperation.Response] = [:]

  init(_ options: Options) { self.options = options }

  static func name(_ index: Int) -> String { "r\(index)" }
  static func tag(_ revision: Int) -> String { "t\(revision)" }
  static func revision(of tag: String?) -> Int { tag.flatMap { Int($0.dropFirst()) } ?? 0 }
  static func id(_ name: String) -> RecordID { RecordID(name: name, zoneID: SessionHarness.zoneID) }

  var zone: Zone? {
    get { account.flatMap { zones[$0] } }
    set { if let account { zones[account] = newValue } }
  }

  // MARK: What others do

  mutating func createZone() {
    guard let account, zones[account] == nil else { return }
    instances += 1
    zones[account] = Zone(instance: instances)
    losses[account] = nil
  }

  mutating func loseZone(_ loss: ZoneLoss) {
    guard let account, zones[account] != nil else { return }
    zones[account] = nil
    losses[account] = loss
  }

  mutating func expireTokens() {
    generation += 1
    let oldest = generation
    zone?.expired = oldest
  }

  /// Another device writes a field of a record, or deletes it.
  mutating func otherDevice(_ edit: OtherEdit, _ name: String) {
    guard var zone else { return }
    revision += 1
    if case .delete = edit {
      guard zone.records[name] != nil else { return }
      zone.records[name] = nil
    } else {
      var field = "d"
      if case .shared = edit { field = "f\(revision % 3)" }
      var stored =
        zone.records[name]
        ?? Stored(
          record: Record(recordType: "Note", recordID: Self.id(name)),
          revision: 0,
          writers: [:]
        )
      stored.record[field] = .int64(Int64(1_000_000 + revision))
      stored.record.changeTag = Self.tag(revision)
      stored.revision = revision
      stored.writers[field] = Writer(isOther: true, revision: revision)
      zone.records[name] = stored
    }
    zone.note(name, revision)
    self.zone = zone
  }

  // MARK: Requests

  /// The error that every request gets now.
  var refusal: SyncError? {
    guard let account else { return SyncError(.notAuthenticated) }
    if zones[account] != nil { return nil }
    switch losses[account] ?? .missing {
    case .missing: return SyncError(.zoneNotFound)
    case .purged: return SyncError(.userDeletedZone)
    case .encryptedDataReset: return SyncError(.zoneNotFound, isEncryptedDataReset: true)
    }
  }

  /// What the request was answered with, if it is a repeat.
  func repeated(_ token: WriteToken) -> ModifyOperation.Response? {
    options.knowsTokens ? answers[token] : nil
  }

  mutating func remember(_ response: ModifyOperation.Response, for token: WriteToken) {
    answers[token] = response
  }

  /// Judges one item, without doing anything.
  func judge(save record: Record) -> Verdict {
    let name = record.recordID.name
    if mood.refused.contains(where: { Self.name($0) == name }) {
      return .failed(SyncError(.invalidArguments, "refused"))
    }
    if mood.isFull { return .failed(SyncError(.quotaExceeded)) }
    guard let stored = zone?.records[name] else {
      return record.changeTag == nil ? .done : .failed(SyncError(.unknownItem))
    }
    if record.changeTag == stored.record.changeTag { return .done }
    let server = options.tellsServerRecord ? stored.record : nil
    return .failed(SyncError(.serverRecordChanged, serverRecord: server))
  }

  func judge(delete recordID: RecordID) -> Verdict {
    if mood.refused.contains(where: { Self.name($0) == recordID.name }) {
      return .failed(SyncError(.permissionFailure, "refused"))
    }
    return zone?.records[recordID.name] == nil ? .failed(SyncError(.unknownItem)) : .done
  }

  /// Saves a record; returns it whole.
  mutating func save(_ edit: Record) -> Record {
    guard var zone else { return edit }
    let name = edit.recordID.name
    revision += 1
    var stored =
      zone.records[name]
      ?? Stored(
        record: Record(recordType: "Note", recordID: edit.recordID),
        revision: 0,
        writers: [:]
      )
    stored.record = stored.record.applying(edit).withChangeTag(Self.tag(revision))
    stored.revision = revision
    for field in edit.fields {
      stored.writers[field.name] = Writer(isOther: false, revision: revision)
    }
    zone.records[name] = stored
    zone.note(name, revision)
    self.zone = zone
    return stored.record
  }

  mutating func delete(_ recordID: RecordID) {
    revision += 1
    zone?.records[recordID.name] = nil
    let now = revision
    zone?.note(recordID.name, now)
  }

  // MARK: Changes

  func lookUp(_ recordIDs: [RecordID]) -> FetchOperation.Response {
    var response = FetchOperation.Response(changeToken: nil)
    for recordID in recordIDs {
      if let stored = zone?.records[recordID.name] {
        response.changedRecords.append(stored.record)
      } else {
        response.failures.append(ItemFailure(recordID, SyncError(.unknownItem)))
      }
    }
    return response
  }

  /// A page of changes; nil if the token has expired.
  func page(from token: ChangeToken?) -> FetchOperation.Response? {
    guard let zone else { return nil }
    var start = 0
    if let token {
      let parts = String(decoding: token.bytes, as: UTF8.self).split(separator: ".")
      let numbers = parts.compactMap { Int($0) }
      guard numbers.count == 3, numbers[0] == zone.instance, numbers[2] >= zone.expired else {
        return nil
      }
      start = numbers[1]
    }
    let changes = zone.log.filter { $0.revision > start }
    let shown = changes.prefix(options.pageSize)
    let end = shown.last?.revision ?? start
    var response = FetchOperation.Response(
      changeToken: ChangeToken(text: "\(zone.instance).\(end).\(generation)"),
      hasMore: shown.count < changes.count
    )
    for change in shown {
      if let stored = zone.records[change.name] {
        response.changedRecords.append(stored.record)
      } else {
        response.deletedRecords.append(DeletedRecord(recordID: Self.id(change.name)))
      }
    }
    return response
  }
}

extension PropertyCloud.Zone {
  fileprivate mutating func note(_ name: String, _ revision: Int) {
    log.removeAll { $0.name == name }
    log.append((revision, name))
  }
}

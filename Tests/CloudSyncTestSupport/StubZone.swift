#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

package import CloudSyncCore

/// The zone of one account of a stub cloud: its records and the feed of their changes.
///
/// Changes are numbered over all zones of the cloud; a record's change tag is made of the number of
/// its last change.
package struct StubZone: Sendable {
  /// Who wrote a field last, and with which change.
  package struct Writer: Sendable {
    package var isOther: Bool
    package var change: Int
  }

  private struct Stored: Sendable {
    var record: Record
    var writers: [String: Writer] = [:]
  }

  package internal(set) var exists: Bool
  /// What requests are answered with while the zone does not exist.
  var error = SyncError(.zoneNotFound)
  /// Tokens carry it; another one makes them void.
  var generation: Int
  /// The number of the last change before the zone.
  private let beginning: Int
  /// By name; looked into, never iterated but for sorting.
  private var stored: [String: Stored] = [:]
  /// The last change of each record, in order.
  private var feed: [(change: Int, recordID: RecordID)] = []

  init(exists: Bool, generation: Int, after beginning: Int) {
    self.exists = exists
    self.generation = generation
    self.beginning = beginning
  }

  /// The number of the change that a tag was made of; 0 for none.
  package static func change(ofTag tag: String?) -> Int { tag.flatMap { Int($0.dropFirst()) } ?? 0 }

  /// The record of a name.
  package subscript(name: String) -> Record? { stored[name]?.record }

  /// Who wrote a field of a record since the record began to exist.
  package func writer(of field: String, in name: String) -> Writer? {
    stored[name]?.writers[field]
  }

  /// The records, sorted by name.
  var allRecords: [Record] { stored.values.map(\.record).sorted { $0.recordID < $1.recordID } }

  // MARK: Changes

  /// Merges an edit into the record, or makes a new one, with the next change tag.
  mutating func store(_ edit: Record, change: Int, isOther: Bool) -> Record {
    let name = edit.recordID.name
    var next =
      stored[name] ?? Stored(record: Record(recordType: edit.recordType, recordID: edit.recordID))
    next.record = next.record.applying(edit).withChangeTag("t\(change)")
    for field in edit.fields { next.writers[field.name] = Writer(isOther: isOther, change: change) }
    stored[name] = next
    note(edit.recordID, change)
    return next.record
  }

  mutating func remove(_ recordID: RecordID, change: Int) {
    stored[recordID.name] = nil
    note(recordID, change)
  }

  private mutating func note(_ recordID: RecordID, _ change: Int) {
    feed.removeAll { $0.recordID == recordID }
    feed.append((change, recordID))
  }

  // MARK: Fetches

  /// The records of some names; those that do not exist fail.
  func lookUp(_ recordIDs: [RecordID]) -> FetchOperation.Response {
    var response = FetchOperation.Response(changeToken: nil)
    for recordID in recordIDs {
      if let record = self[recordID.name] {
        response.changedRecords.append(record)
      } else {
        response.failures.append(ItemFailure(recordID, SyncError(.unknownItem)))
      }
    }
    return response
  }

  /// The changes after a token, so many of them; nil if the token is void.
  func page(from token: ChangeToken?, size: Int) -> FetchOperation.Response? {
    guard let start = start(of: token) else { return nil }
    let changes = feed.filter { $0.change > start }
    let shown = changes.prefix(size)
    var response = FetchOperation.Response(
      changeToken: ChangeToken(text: "\(generation).\(shown.last?.change ?? start)"),
      hasMore: shown.count < changes.count
    )
    for (_, recordID) in shown {
      if let record = self[recordID.name] {
        response.changedRecords.append(record)
      } else {
        response.deletedRecords.append(DeletedRecord(recordID: recordID))
      }
    }
    return response
  }

  /// The change after which a fetch begins; nil if its token is void.
  private func start(of token: ChangeToken?) -> Int? {
    guard let token else { return beginning }
    let parts = String(decoding: token.bytes, as: UTF8.self).split(separator: ".").map { Int($0) }
    guard parts.count == 2, parts[0] == generation else { return nil }
    return parts[1]
  }
}

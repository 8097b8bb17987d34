#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Keeps what a handler needs of records beside their values: for CloudKit, the bytes from which it makes a
/// record that has a change tag.
///
/// It is a cache, never the truth: what is missing or damaged costs a handler one request more and nothing
/// else, so anything may be dropped at any time. Calls may come from any thread.
///
/// Choose ``SystemFieldsMemory`` where the first edit of each record after a launch may cost a look-up, and
/// `SystemFieldsFile` of CloudSyncSQLite where it should not.
public protocol SystemFieldsStore: Sendable {
  /// What is stored of some records.
  ///
  /// - Returns: An entry for each record, in their order; nil where nothing is stored.
  func load(_ recordIDs: [RecordID]) throws(SystemFieldsStoreError) -> [Data?]

  /// Stores what is known of some records, in place of what was stored before.
  func save(_ systemFields: [SystemFields]) throws(SystemFieldsStoreError)

  /// Forgets records.
  func remove(_ recordIDs: [RecordID]) throws(SystemFieldsStoreError)
}

/// What a handler keeps of one record: opaque bytes.
public struct SystemFields: Sendable, Hashable {
  /// The record.
  public var recordID: RecordID
  /// The bytes, which mean something to the handler only.
  public var bytes: Data

  /// Creates an entry.
  public init(recordID: RecordID, bytes: Data) {
    self.recordID = recordID
    self.bytes = bytes
  }
}

/// Why a store of system fields could not be read or written.
public struct SystemFieldsStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong and what to do, in a sentence or two.
  public let reason: String

  /// Creates an error.
  public init(_ reason: String) { self.reason = reason }

  /// The reason.
  public var description: String { reason }
}

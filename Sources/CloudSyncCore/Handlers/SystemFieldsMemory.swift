#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Keeps the system fields of records in memory, of those that were used last.
public final class SystemFieldsMemory: SystemFieldsStore {
  /// The newer and the older half of what is kept.
  ///
  /// When the young one is full it becomes the old one, and what that had is forgotten unless it was used
  /// meanwhile. So every call takes the same time, however many records there are.
  private struct Halves {
    /// Looked into, never iterated.
    var young: [RecordID: Data] = [:]
    var old: [RecordID: Data] = [:]

    mutating func put(_ bytes: Data, for recordID: RecordID, limit: Int) {
      old[recordID] = nil
      young[recordID] = bytes
      if young.count >= limit {
        old = young
        young = [:]
      }
    }
  }

  private let halves = Locked(Halves())
  private let halfLimit: Int

  /// Creates a store.
  ///
  /// - Parameter limit: How many records it keeps at most; at least the half of it.
  public init(limit: Int = 50_000) { halfLimit = max(1, limit / 2) }

  /// How many records it keeps now.
  public var count: Int { halves.withLock { $0.young.count + $0.old.count } }

  /// What is stored of some records.
  public func load(_ recordIDs: [RecordID]) -> [Data?] {
    halves.withLock { halves in
      recordIDs.map { recordID in
        if let bytes = halves.young[recordID] { return bytes }
        guard let bytes = halves.old[recordID] else { return nil }
        halves.put(bytes, for: recordID, limit: halfLimit)
        return bytes
      }
    }
  }

  /// Stores what is known of some records.
  public func save(_ systemFields: [SystemFields]) {
    halves.withLock { halves in
      for entry in systemFields {
        halves.put(entry.bytes, for: entry.recordID, limit: halfLimit)
      }
    }
  }

  /// Forgets records.
  public func remove(_ recordIDs: [RecordID]) {
    halves.withLock { halves in
      for recordID in recordIDs {
        halves.young[recordID] = nil
        halves.old[recordID] = nil
      }
    }
  }
}

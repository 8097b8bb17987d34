import CloudSyncSession
import Foundation

/// What the samples take for an app's storage.
protocol SampleStore: AnyObject, Sendable {
  var changeToken: ChangeToken? { get }
  func record(_ id: RecordID) -> Record?
  func edit(_ records: [Record])
}

/// A file that bytes are appended to.
protocol SampleFile: Sendable {
  func append(_ bytes: Data)
}

enum EmbeddingSamples {
  static func restore(
    _ storedJournal: Data?,
    _ handler: any OperationHandler,
    _ journalFile: any SampleFile
  ) throws -> CloudSyncSession {
    // SAMPLE: CloudSyncCore/Embedding.md
    let session = try CloudSyncSession(
      journal: storedJournal,
      operationHandler: handler,
      zoneID: ZoneID(name: "Notes")
    )
    session.journal { bytes in journalFile.append(bytes) }
    // SAMPLE: end
    return session
  }

  static func submit(
    _ shown: Record,
    _ session: CloudSyncSession,
    _ store: any SampleStore
  ) throws {
    // SAMPLE: CloudSyncCore/Embedding.md
    var edited = shown
    edited["text"] = "Buy milk and eggs"
    let operation = ModifyOperation(records: [edited], ancestors: [shown])
    try session.modify(
      operation,
      accepted: { accepted in
        store.edit(accepted.records.map { $0.merged(into: store.record($0.recordID)) })
      }
    )
    // SAMPLE: end
  }

  static func fetch(_ session: CloudSyncSession, _ store: any SampleStore) {
    // SAMPLE: CloudSyncCore/Embedding.md
    let token = store.changeToken
    session.fetch(FetchOperation(changeToken: token, startingOver: token == nil))
    // SAMPLE: end
  }
}

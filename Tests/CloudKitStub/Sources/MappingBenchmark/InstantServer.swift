@_spi(Stub) import CloudKit
import CloudSyncCloudKit
import Foundation

/// A server that has its responses ready: it saves whatever comes, and has one page of records.
///
/// It is `@unchecked Sendable` because the benchmark is on one thread.
final class InstantServer: CloudStubBackend, @unchecked Sendable {
  private let records: [CKRecord]
  private(set) var seconds = 0.0
  static let zoneName = "Notes"
  let identifier = "iCloud.benchmark"

  init(count: Int) {
    records = (0..<count).map { Self.record($0) }
    CloudStub.install(self, for: identifier)
  }

  /// An edit of eight fields.
  static func note(_ number: Int) -> Record {
    Record(
      recordType: "Note",
      recordID: RecordID(name: "record-\(number)", zoneID: ZoneID(name: zoneName)),
      fields: [
        "title": .string("A note, the \(number)th of many"), "body": .string(text), "stars": 5,
        "size": .double(0.5), "due": .timestamp(Timestamp(nanoseconds: 1_700_000_000_000_001_000)),
        "bytes": .data(Data(repeating: 7, count: 64)), "tags": ["red", "green", "blue"],
        "list": .reference(
          Reference(recordID: RecordID(name: "list", zoneID: ZoneID(name: zoneName)))
        ),
      ]
    )
  }

  private static let text = String(repeating: "Some words of a body. ", count: 8)

  /// The same as CloudKit has it.
  private static func record(_ number: Int) -> CKRecord {
    let zoneID = CKRecordZone.ID(zoneName: zoneName)
    let record = CKRecord(
      recordType: "Note",
      recordID: CKRecord.ID(recordName: "record-\(number)", zoneID: zoneID)
    )
    record["title"] = "A note, the \(number)th of many"
    record["body"] = text
    record["stars"] = NSNumber(value: Int64(5))
    record["size"] = NSNumber(value: 0.5)
    record["due"] = Date(timeIntervalSince1970: 1_700_000_000)
    record["bytes"] = Data(repeating: 7, count: 64)
    record["tags"] = ["red", "green", "blue"]
    record["list"] = CKRecord.Reference(
      recordID: CKRecord.ID(recordName: "list", zoneID: zoneID),
      action: .none
    )
    set(record)
    return record
  }

  private static func set(_ record: CKRecord) {
    record._setSystemFields(
      changeTag: "tag",
      creationDate: Date(timeIntervalSince1970: 1_700_000_000),
      modificationDate: Date(timeIntervalSince1970: 1_700_000_000),
      parent: nil,
      share: nil
    )
  }

  /// What the archiver alone takes.
  func archiveAll() {
    for record in records {
      let archiver = NSKeyedArchiver(requiringSecureCoding: true)
      record.encodeSystemFields(with: archiver)
      archiver.finishEncoding()
      _ = archiver.encodedData
    }
  }

  func run(_ operation: CKDatabaseOperation, in scope: CKDatabase.Scope) {
    seconds = 0
    switch operation {
    case let operation as CKModifyRecordsOperation:
      let clock = ContinuousClock()
      for record in operation._recordsToSave {
        let own = clock.measure { Self.set(record) }
        seconds += Double(own.components.attoseconds) / 1e18
        operation.perRecordSaveBlock?(record.recordID, .success(record))
      }
      operation.modifyRecordsResultBlock?(.success(()))
    case let operation as CKFetchRecordZoneChangesOperation:
      for record in records { operation.recordWasChangedBlock?(record.recordID, .success(record)) }
      let token = CKServerChangeToken(_bytes: Data([1]))
      operation.recordZoneFetchResultBlock?(
        operation._zoneIDs[0],
        .success((serverChangeToken: token, clientChangeTokenData: nil, moreComing: false))
      )
      operation.fetchRecordZoneChangesResultBlock?(.success(()))
    default: preconditionFailure("The benchmark only saves and fetches.")
    }
  }

  func accountStatus(_ completion: @escaping (CKAccountStatus, (any Error)?) -> Void) {
    completion(.available, nil)
  }

  func userRecordID(_ completion: @escaping (CKRecord.ID?, (any Error)?) -> Void) {
    completion(nil, nil)
  }
}

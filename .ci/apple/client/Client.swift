// What an app writes: no name of the library's may be ambiguous beside Combine's and Foundation's.
import CloudKit
import CloudSyncCloudKit
import CloudSyncSession
import Combine
import Foundation
import Observation
import os

final class Client {
  private let session: CloudSyncSession
  private let completions: SyncSubject<SyncProgress>
  private var subscriptions: [SyncSubscription] = []
  private var cancellables: [any Combine.Cancellable] = []

  init(session: CloudSyncSession, progress: SyncSubject<SyncProgress>) {
    self.session = session
    completions = progress
  }

  func observe() {
    let states: SyncPublisher<Bool> = session.statePublisher.map { $0.isRunning }
    states.sink { _ in }.store(in: &subscriptions)
    let published: AnyPublisher<SyncProgress, Never> = completions.combine
    _ = published
  }
}

// With CloudKit, of which none of the library's names is one either.
func makeSession(_ container: CKContainer) -> (CloudSyncSession, CloudKitAccount) {
  let handler = CloudKitOperationHandler(
    database: container.privateCloudDatabase,
    zoneID: CKRecordZone.ID(zoneName: "Notes")
  )
  return (
    CloudSyncSession(operationHandler: handler, zoneID: handler.zoneID),
    CloudKitAccount(container: container)
  )
}

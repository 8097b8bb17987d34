import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import CloudSyncSimulator
import Foundation
import NotesModel
import Observation
import Synchronization

/// Models of several devices and their cloud, in virtual time.
@MainActor
final class NotesHarness {
  let world = SimulatedEnvironment()
  let cloud: LocalCloud
  let failure = CloudFailure()
  private let folder: URL
  private static let folders = Mutex(0)

  init() throws {
    let world = world
    cloud = LocalCloud(now: { world.now })
    let number = Self.folders.withLock { number in
      number += 1
      return number
    }
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("notes-app-\(ProcessInfo.processInfo.processIdentifier)-\(number)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func removeFiles() { try? FileManager.default.removeItem(at: folder) }

  func database(_ device: String) throws -> NotesDatabase {
    try NotesDatabase(path: folder.appendingPathComponent("\(device).sqlite").path)
  }

  func model(_ device: String) throws -> NotesModel {
    let connection = cloud.connect(
      device: device,
      account: AccountIdentity("owner"),
      zoneID: ZoneID(name: "Notes")
    )
    return try NotesModel(
      database: database(device),
      cloud: FailingHandler(failure: failure, base: connection),
      environment: world.environment
    )
  }

  /// Lets time pass in which devices send, and fetches for those that ask then.
  func pass(_ models: NotesModel...) async {
    for model in models + models {
      let isDone = Mutex(false)
      let refresh = Task {
        await model.refresh()
        isDone.withLock { $0 = true }
      }
      while !isDone.withLock({ $0 }) {
        await Task.yield()
        world.advance(by: .seconds(1))
      }
      await refresh.value
    }
  }

  /// Waits for changes of a model until something holds.
  func wait(until isReached: @MainActor () -> Bool) async {
    while !isReached() {
      world.advance(by: .seconds(1))
      await Task.yield()
    }
  }
}

/// What the cloud answers with instead of doing what it is asked.
final class CloudFailure: Sendable {
  private let error = Mutex<SyncError?>(nil)

  var answer: SyncError? { error.withLock { $0 } }
  func set(_ new: SyncError?) { error.withLock { $0 = new } }
}

private struct FailingHandler: WorkHandler {
  let failure: CloudFailure
  let base: any OperationHandler

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if let error = failure.answer { return completion(.failure(error)) }
    base.perform(work, context: context, completion: completion)
  }
}

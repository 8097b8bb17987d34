import CloudKit
import CloudSyncCloudKit
import CloudSyncSession
import CloudSyncSQLite
import Foundation

/// The code of the articles about CloudKit.
enum ArticleSamples {
  static func connect(_ database: DatabaseFile, _ folder: String) throws {
    // SAMPLE: CloudSyncCloudKit/CloudSyncCloudKit.md
    let container = CKContainer(identifier: "iCloud.org.example.Notes")
    let handler = CloudKitOperationHandler(
      database: container.privateCloudDatabase,
      zoneID: CKRecordZone.ID(zoneName: "Notes"),
      systemFields: try SystemFieldsFile(path: folder + "/notes.cloudkit"),
      assets: AssetCache(folder: folder + "/assets")
    )
    let account = CloudKitAccount(container: container)

    // Any storage layer: a session.
    let session = CloudSyncSession(operationHandler: handler, zoneID: handler.zoneID)
    session.appendMiddleware(AccountStatusMiddleware(provider: account.provider))
    account.follow(session)

    // Or SQLite: an engine makes its sessions itself.
    var options = SyncEngineOptions()
    options.accountProvider = account.provider
    options.sessionWillStart = { session in account.follow(session) }
    let engine = try SyncEngine(
      database: database,
      tables: ["notes"],
      zoneID: handler.zoneID,
      operationHandler: handler,
      options: options
    )
    // SAMPLE: end
    _ = engine
  }

  static func setUp(
    _ database: DatabaseFile,
    _ folder: String,
    _ pushes: CloudKitPushes
  ) throws {
    // SAMPLE: CloudSyncCloudKit/SettingUpCloudKit.md
    let container = CKContainer(identifier: "iCloud.org.example.Notes")
    let handler = CloudKitOperationHandler(
      database: container.privateCloudDatabase,
      zoneID: CKRecordZone.ID(zoneName: "Notes"),
      systemFields: try SystemFieldsFile(path: folder + "/notes.cloudkit"),
      assets: AssetCache(folder: folder + "/assets")
    )
    let account = CloudKitAccount(container: container)
    var options = SyncEngineOptions()
    options.accountProvider = account.provider
    options.sessionWillStart = { session in
      account.follow(session)
      pushes.add(session, handler: handler)
    }
    let engine = try SyncEngine(
      database: database,
      tables: ["lists", "notes"],
      zoneID: handler.zoneID,
      operationHandler: handler,
      options: options
    )
    try engine.start()
    // SAMPLE: end
  }
}

#if canImport(UIKit)
import UIKit

/// What only an app on Apple's systems can compile.
@MainActor
final class AppSample: NSObject {
  func hide(_ session: CloudSyncSession) async {
    // SAMPLE: CloudSyncCloudKit/CloudSyncCloudKit.md
    let task = UIApplication.shared.beginBackgroundTask()
    _ = await session.idle(upTo: .seconds(25))
    UIApplication.shared.endBackgroundTask(task)
    // SAMPLE: end
  }

  // SAMPLE: CloudSyncCloudKit/SettingUpCloudKit.md
  let pushes = CloudKitPushes()

  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    application.registerForRemoteNotifications()
    return true
  }

  func application(
    _ application: UIApplication,
    didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult {
    switch await pushes.take(userInfo, upTo: .seconds(20)) {
    case .new?: .newData
    case .nothing?, nil: .noData
    case .failed?: .failed
    }
  }
  // SAMPLE: end
}
#endif

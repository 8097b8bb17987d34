import CloudSyncSession
import CloudSyncSQLite

enum BackgroundAndPushSamples {
  enum FetchResult: Sendable { case newData, noData, failed }

  // SAMPLE: CloudSyncSQLite/BackgroundAndPush.md
  /// What a silent push asks for, within the time that the system gives.
  static func receivePush(_ engine: SyncEngine) async throws -> FetchResult {
    try engine.start()  // a push may have launched the app
    switch await engine.fetchNow(upTo: .seconds(20)) {
    case .new: return .newData
    case .nothing: return .noData
    case .failed: return .failed
    }
  }
  // SAMPLE: end

  static func refresh(_ engine: SyncEngine) async throws -> Bool {
    // SAMPLE: CloudSyncSQLite/BackgroundAndPush.md
    try engine.start()
    switch await engine.syncChanges(upTo: .seconds(25)) {
    case .done: return true
    case .waiting(let explanation): print(explanation)  // offline, or the server asks to wait
    case .halted(let error): print("sync has stopped: \(error.message)")
    case .stopped: break
    }
    engine.stop()  // what was cut off is sent after the next start
    return false
    // SAMPLE: end
  }

  static func becomeActive(_ engine: SyncEngine) {
    // SAMPLE: CloudSyncSQLite/BackgroundAndPush.md
    engine.session?.connectivityChanged()  // the backoff starts again
    engine.fetchChanges()
    // SAMPLE: end
  }
}

#if canImport(UIKit) && !os(watchOS)
import UIKit

@MainActor
final class AppleSystemsSample: NSObject {
  let engine: SyncEngine

  init(engine: SyncEngine) { self.engine = engine }

  // SAMPLE: CloudSyncSQLite/AppleSystems.md
  func applicationDidEnterBackground(_ application: UIApplication) {
    let task = application.beginBackgroundTask { [engine] in engine.stop() }
    engine.syncChanges { _ in DispatchQueue.main.async { application.endBackgroundTask(task) } }
  }
  // SAMPLE: end
}
#endif

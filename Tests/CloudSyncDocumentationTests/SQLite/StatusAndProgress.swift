import CloudSyncSession
import CloudSyncSQLite

#if canImport(SwiftUI)
import SwiftUI

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
// SAMPLE: CloudSyncSQLite/StatusAndProgress.md
struct SyncStatusView: View {
  let status: SyncEngineStatus

  var body: some View {
    if let error = status.haltedError {
      Label(error.message, systemImage: "exclamationmark.icloud")
    } else if status.isWaiting {
      Label(status.explanation, systemImage: "icloud.slash")
    } else if status.isSyncing {
      ProgressView(value: status.progress.fraction)
    } else {
      Label("Synced", systemImage: "checkmark.icloud")
    }
  }
}
// SAMPLE: end
#endif

enum StatusAndProgressSamples {
  // SAMPLE: CloudSyncSQLite/StatusAndProgress.md
  static func report(_ engine: SyncEngine) async {
    var last = ""
    for await activity in engine.activity.values(buffering: .newest) {
      let progress = activity.progress
      let line =
        activity.isWaiting
        ? activity.explanation
        : "\(progress.done) of \(progress.total) sent, \(progress.received) received"
      // An activity is published for every change, and not each one changes this line.
      if line != last { print(line) }
      last = line
    }
  }
  // SAMPLE: end

  // SAMPLE: CloudSyncSQLite/StatusAndProgress.md
  static func symbol(of id: String, in engine: SyncEngine) throws -> String {
    switch try engine.status(of: .string(id), in: "notes") {
    case .clean: "checkmark.icloud"
    case .parked: "exclamationmark.icloud"
    case nil: "questionmark"
    default: "icloud.and.arrow.up"
    }
  }
  // SAMPLE: end
}

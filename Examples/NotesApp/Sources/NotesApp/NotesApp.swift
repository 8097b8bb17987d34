#if canImport(SwiftUI)
import CloudSyncLocalCloud
import CloudSyncSession
import Foundation
import NotesModel
import SwiftUI

/// The app: a list of notes in a SQLite file, in sync with a cloud.
///
/// The cloud is a file beside the database, so that the app runs without an account. With an iCloud container give the
/// model a `CloudKitOperationHandler` instead: nothing else changes.
@main
struct NotesApp: App {
  @State private var opened = Result { try OpenedNotes() }
  @Environment(\.scenePhase) private var phase

  var body: some Scene {
    WindowGroup {
      switch opened {
      case .success(let notes):
        NotesView(model: notes.model)
          .onChange(of: phase, initial: true) {
            // A suspended app must not hold a lock on its files.
            if phase == .background { notes.model.stop() } else { notes.model.start() }
          }
      case .failure(let error):
        ContentUnavailableView(
          "The notes cannot be opened",
          systemImage: "externaldrive.badge.xmark",
          description: Text("\(error)")
        )
      }
    }
  }
}

/// The database, the cloud and the model.
@MainActor
struct OpenedNotes {
  let model: NotesModel

  init() throws {
    let folder = try FileManager.default
      .url(
        for: .applicationSupportDirectory,
        in: .userDomainMask,
        appropriateFor: nil,
        create: true
      )
      .appending(path: "Notes", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = try SQLiteStore(path: folder.appending(path: "cloud.sqlite").path)
    let cloud = LocalCloud(store: store)
    model = try NotesModel(
      database: NotesDatabase(path: folder.appending(path: "notes.sqlite").path),
      cloud: cloud.connect(
        device: ProcessInfo.processInfo.hostName,
        account: AccountIdentity("owner"),
        zoneID: ZoneID(name: "Notes")
      )
    )
  }
}
#else
/// Where there is no SwiftUI the model is built and tested, and there is nothing to show.
@main
enum NotesApp {
  static func main() { print("NotesApp needs SwiftUI: run it on a Mac, or in Xcode for iOS.") }
}
#endif

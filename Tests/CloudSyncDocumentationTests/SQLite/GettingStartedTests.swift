// SAMPLE: CloudSyncSQLite/GettingStarted.md
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import Foundation
import Testing

@Suite("Getting started with the SQLite engine")
struct GettingStartedTests {
  @Test("An edit of one device comes to the other")
  func meets() async throws {
    let cloud = LocalCloud()
    let process = ProcessInfo.processInfo.processIdentifier
    let folder = FileManager.default.temporaryDirectory.path + "/getting-started-\(process)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let engines = try ["mac", "phone"]
      .map { device in
        try openNotes(
          path: "\(folder)/\(device).sqlite",
          cloud: cloud.connect(
            device: device,
            account: AccountIdentity("owner"),
            zoneID: ZoneID(name: "Notes")
          )
        )
      }
    for engine in engines { try engine.start() }
    defer { for engine in engines { engine.stop() } }

    let mac = try DatabaseFile(path: "\(folder)/mac.sqlite")
    try mac.execute("INSERT INTO notes(id, text) VALUES('6f9c', 'Buy milk')")
    for engine in engines { #expect(await engine.syncChanges().isDone) }

    let phone = try DatabaseFile(path: "\(folder)/phone.sqlite")
    let rows = try phone.query("SELECT text FROM notes WHERE id = '6f9c'")
    #expect(rows.map { $0["text"] } == ["Buy milk"])
    #expect(try engines[0].status(of: "6f9c", in: "notes") == .clean)  // the cloud has it
  }
}
// SAMPLE: end

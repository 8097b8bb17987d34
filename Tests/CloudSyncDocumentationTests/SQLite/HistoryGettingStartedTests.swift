// SAMPLE: CloudSyncChangesets/GettingStarted.md
import CloudSyncChangesets
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSession
import Foundation
import Testing

@Suite("Getting started with a history")
struct HistoryGettingStartedTests {
  @Test("Two devices edit one row, and both have both edits; one edit is undone")
  func meets() async throws {
    let cloud = LocalCloud()
    let process = ProcessInfo.processInfo.processIdentifier
    let folder = FileManager.default.temporaryDirectory.path + "/history-\(process)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }

    let desk = try DatabaseFile(path: folder + "/desk.sqlite", createsFile: true)
    try desk.execute(
      """
      CREATE TABLE plans(id TEXT PRIMARY KEY NOT NULL, title TEXT, budget INTEGER);
      INSERT INTO plans VALUES('p1', 'Garden', 100);
      """
    )
    let history = try ChangesetRepository(desk)  // the row is in its first commit
    let remote = try ChangesetRemote(
      history,
      operationHandler: handler("desk", cloud),
      zoneID: zone
    )
    try await remote.sync()

    let phone = try DatabaseFile(path: folder + "/phone.sqlite", createsFile: true)
    let copy = try await ChangesetRemote.clone(
      into: phone,
      from: handler("phone", cloud),
      zoneID: zone
    )
    let phoneRemote = try ChangesetRemote(
      copy,
      operationHandler: handler("phone", cloud),
      zoneID: zone
    )

    try desk.execute("UPDATE plans SET budget = 150")
    try history.commit(meta: #"{"message": "More money"}"#)
    try phone.execute("UPDATE plans SET title = 'Kitchen garden'")
    try await remote.sync()
    try await phoneRemote.sync()  // commits, fetches, merges and pushes
    try await remote.sync()
    for database in [desk, phone] {
      let row = try #require(try database.query("SELECT title, budget FROM plans").first)
      #expect(row["title"] == "Kitchen garden" && row["budget"] == 150)
    }

    try history.undo()  // the last commit of this device
    let row = try #require(try desk.query("SELECT title, budget FROM plans").first)
    #expect(row["title"] == "Kitchen garden" && row["budget"] == 100)
    for commit in try history.log() { print(commit.id.short, commit.kind, commit.meta) }
  }

  private let zone = ZoneID(name: "History")

  private func handler(_ device: String, _ cloud: LocalCloud) -> any OperationHandler {
    cloud.connect(device: device, account: AccountIdentity("owner"), zoneID: zone)
  }
}
// SAMPLE: end

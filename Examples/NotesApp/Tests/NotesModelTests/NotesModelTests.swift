import CloudSyncSQLite
import CloudSyncSession
import Testing

@testable import NotesModel

@Suite("NotesModel", .timeLimit(.minutes(2)))
@MainActor
struct NotesModelTests {
  private func texts(_ model: NotesModel) -> [String] {
    model.notes.map { "\($0.isDone ? "x" : "-") \($0.text)" }
  }

  @Test("Edits of the list are seen on another device, and the list tells how far each note is")
  func edits() async throws {
    let bench = try NotesHarness()
    defer { bench.removeFiles() }
    let (mac, phone) = (try bench.model("mac"), try bench.model("phone"))
    mac.add("Milk")
    mac.add("Bread")
    mac.add("")
    #expect(texts(mac) == ["- Bread", "- Milk"])
    #expect(mac.notes.map(\.progress) == [.pending, .pending])

    await bench.pass(mac, phone)
    #expect(texts(phone) == ["- Bread", "- Milk"])
    await bench.wait { mac.notes.map(\.progress) == [.synced, .synced] }

    phone.toggle(phone.notes[0])
    phone.set(text: "Oat milk", of: phone.notes[0])
    #expect(texts(phone) == ["- Oat milk", "x Bread"])
    await bench.pass(phone, mac)
    #expect(texts(mac) == ["- Oat milk", "x Bread"])

    mac.delete(at: [1, 7])
    await bench.pass(mac, phone)
    #expect(texts(mac) == ["- Oat milk"])
    #expect(texts(phone) == ["- Oat milk"])
    #expect(mac.failure == nil)
    #expect(phone.status.pendingRows == 0)
  }

  @Test(
    "The list follows what other devices send, and what another process writes, without being asked"
  )
  func follows() async throws {
    let bench = try NotesHarness()
    defer { bench.removeFiles() }
    let (mac, phone) = (try bench.model("mac"), try bench.model("phone"))
    mac.start()
    phone.start()
    mac.add("Milk")
    await bench.wait { mac.notes.first?.progress == .synced }
    await bench.pass(phone)
    await bench.wait { texts(phone) == ["- Milk"] }
    let other = try bench.database("phone")
    try other.add(text: "Written elsewhere")
    await bench.pass(phone, mac)
    #expect(texts(mac) == ["- Milk", "- Written elsewhere"])
  }

  @Test("Stopped, it captures edits and says that it does not run; started, it sends them")
  func stops() async throws {
    let bench = try NotesHarness()
    defer { bench.removeFiles() }
    let (mac, phone) = (try bench.model("mac"), try bench.model("phone"))
    #expect(!mac.status.isRunning)
    await bench.pass(mac, phone)
    await bench.wait { mac.status.isRunning && mac.status.lastSync != nil }
    mac.stop()
    await bench.wait { !mac.status.isRunning }
    mac.add("Later")
    #expect(mac.notes.map(\.progress) == [.pending])
    await bench.pass(phone)
    #expect(phone.notes == [])
    mac.start()
    await bench.pass(mac, phone)
    #expect(texts(phone) == ["- Later"])
    await bench.wait { mac.status.progress.fraction == 1 && !mac.status.isSyncing }
  }

  @Test(
    "Offline it waits and says why; an error that it cannot get over halts it until the user starts again"
  )
  func errors() async throws {
    let bench = try NotesHarness()
    defer { bench.removeFiles() }
    let mac = try bench.model("mac")
    await bench.pass(mac)
    bench.failure.set(SyncError(.networkUnavailable))
    mac.add("Offline")
    await bench.wait { mac.status.isWaiting }
    #expect(mac.status.cloudError?.code == .networkUnavailable)
    #expect(mac.status.pendingRows == 1)
    #expect(mac.notes.map(\.progress) == [.pending])

    bench.failure.set(SyncError(.badDatabase))
    await bench.wait { mac.status.isHalted }
    #expect(mac.status.haltedError?.code == .badDatabase)
    bench.failure.set(nil)
    mac.start()
    await bench.wait { mac.notes.first?.progress == .synced }
    #expect(!mac.status.isHalted)
  }

  @Test("A note that the cloud rejects says so, and is sent again on request")
  func rejected() async throws {
    let bench = try NotesHarness()
    defer { bench.removeFiles() }
    let mac = try bench.model("mac")
    mac.add(String(repeating: "long ", count: 300_000))
    await bench.pass(mac)
    await bench.wait { mac.hasRejected }
    mac.retryRejected()
    #expect(mac.failure == nil)
    mac.set(text: "short", of: mac.notes[0])
    await bench.pass(mac)
    await bench.wait { mac.notes.first?.progress == .synced }
    #expect(!mac.hasRejected)
  }

  @Test("An edit that fails is told, and leaves the list as it was")
  func failedEdit() async throws {
    let bench = try NotesHarness()
    defer { bench.removeFiles() }
    let mac = try bench.model("mac")
    mac.add("Milk")
    let database = try bench.database("mac")
    try database.file.execute(
      "CREATE TRIGGER no BEFORE UPDATE ON notes BEGIN SELECT raise(ABORT, 'not today'); END"
    )
    mac.set(text: "Bread", of: mac.notes[0])
    #expect(mac.failure?.contains("not today") == true)
    #expect(texts(mac) == ["- Milk"])
    try database.file.execute("DROP TRIGGER no")
    mac.set(text: "Bread", of: mac.notes[0])
    #expect(mac.failure == nil)
    #expect(texts(mac) == ["- Bread"])
  }

  @Test("A database that cannot be synced is refused with the reason")
  func refused() throws {
    let bench = try NotesHarness()
    defer { bench.removeFiles() }
    let database = try bench.database("mac")
    try database.file.execute("DROP TABLE notes; CREATE TABLE notes(text TEXT)")
    #expect(throws: SyncEngineError.self) { try bench.model("mac") }
  }
}

import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncSession
import CloudSyncWebServices
import Foundation
import Testing

@testable import CloudSyncServer

@Suite("The life of a server")
struct LifeTests {
  @Test("60. A disk that is full: 503 with a wait, ready is red; when there is room all goes on")
  func fullDisk() async throws {
    let server = try TestServer()
    let handler = try server.handler()
    #expect(try await handler.createZone(notes).get())
    #expect(try server.admin("/ready").status == 200)

    try server.set("full", true)
    let refused = await handler.modify([note("a")], token: 5)
    #expect(refused.error?.code == .serviceUnavailable)
    #expect(refused.error?.retryAfter == .seconds(5))
    #expect(refused.error?.message.contains("/secret-path") == false)
    #expect(try server.admin("/ready").status == 503)
    #expect(await handler.fetch().error == nil, "what is there can be read")

    try server.set("full", false)
    #expect(try await handler.modify([note("a")], token: 5).get().savedRecords.count == 1)
    #expect(try server.admin("/ready").body == "ready\n")
    #expect(try server.admin("/live").body == "live\n")
    #expect(server.end() == 0)
  }

  /// Whether this machine lets a test have a file system of its own.
  private static let mounts: Bool = {
    let script = "mount -t tmpfs -o size=64k tmpfs /mnt"
    let run = try? Run("/usr/bin/env", ["unshare", "-Urm", "sh", "-c", script])
    return run?.code == 0
  }()

  @Test(
    "60. A file system that is full: what does not fit waits, ready is red; with room all arrives",
    .enabled(if: mounts)
  )
  func fullFileSystem() async throws {
    let server = try ServerProcess(startedBy: { data in
      let script = """
        mkdir -p "$0" && mount -t tmpfs -o size=6m tmpfs "$0" &&
        head -c 3000000 /dev/zero >"$0/ballast" &&
        "$1" token add --data "$0" --account alice --device mac >"$0.token" && exec "$@"
        """
      return ["/usr/bin/env", "unshare", "-Urm", "sh", "-c", script, data]
    })
    let text = try String(contentsOfFile: server.data + ".token", encoding: .utf8)
    let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let handler = WebServicesOperationHandler(client: try server.client(token), zoneID: notes)
    #expect(try await handler.createZone(notes).get())
    let filler = FieldValue.string(String(repeating: "x", count: 200_000))
    func save(_ number: UInt64) async -> Result<ModifyOperation.Response, SyncError> {
      await handler.modify([note("r\(number)", ["text": filler])], token: number)
    }
    var refused: UInt64?
    for number in 1...60 where refused == nil {
      guard let error = await save(UInt64(number)).error else { continue }
      refused = UInt64(number)
      #expect(error.code == .serviceUnavailable && error.retryAfter != nil, "\(error)")
      #expect(!error.message.contains(server.data))
    }
    let first = try #require(refused)
    #expect(try server.admin("/ready").status == 503)
    #expect(await handler.fetch().error == nil, "what is there can be read")
    #expect(await save(first).error?.code == .serviceUnavailable)

    let ballast = "/proc/\(server.process.processID)/root\(server.data)/ballast"
    try FileManager.default.removeItem(atPath: ballast)
    for number in first..<first + 3 {
      #expect(try await save(number).get().savedRecords.count == 1)
    }
    let names = try await handler.fetchAll().map(\.recordID.name)
    #expect(Set(names) == Set((1..<first + 3).map { "r\($0)" }) && names.count == Int(first) + 2)
    server.process.send(SIGTERM)
    #expect(server.process.wait() == 0)
  }

  @Test("4. A file of 50 MB is kept with less than 8 MB of memory")
  func largeFile() throws {
    let folder = try Folder()
    let file = folder.path("file")
    #expect(FileManager.default.createFile(atPath: file, contents: nil))
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.truncate(atOffset: 50_000_000)
    try handle.close()
    let digest = try Run("/usr/bin/env", ["sha256sum", file]).output.prefix(64)
    let run = try Run(Program.testServer, [folder.path, "asset", String(digest)])
    #expect(run.code == 0, "\(run.errors)")
    let grown = try #require(Int(run.output.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(grown < 8_000_000)
    let kept = folder.files(below: "assets")
    #expect(kept.count == 2 && kept.contains { $0.hasSuffix(digest) })
  }

  @Test("66. A poll ends in time; after its token was revoked there is none, nor anything else")
  func revoked() async throws {
    let server = try ServerProcess()
    let token = try await server.token("mac")
    let path = "/database/1/cloudsync/production/tokens/create"
    func place(_ token: String) throws -> String {
      let created = try server.ask("POST", path, token: token, body: "{}").body
      let start = try #require(created.range(of: "/courier/1/")?.lowerBound)
      return String(created[start...].prefix { $0 != "\"" })
    }
    let courier = try place(token)
    #expect(try server.ask("GET", courier).body.contains("ck"))
    let said = Said()
    let words = ["token", "revoke", "--data", server.data, "--account", "alice"]
    #expect(await ServerCommand.run(words, console: said.console) == 0)
    let caller = ServerProcess.base + "users/caller"
    #expect(try server.ask("GET", caller, token: token).status == 401)
    #expect(try server.ask("GET", courier).status == 404)
    #expect(await ServerCommand.run(words, console: said.console) == 1)

    let short = try await server.token("pc", days: 1)
    #expect(try server.ask("GET", caller, token: short).status == 200)
    let ending = try place(short)
    #expect(try server.ask("GET", ending).body.contains("ck"))
    let file = server.data + "/tokens"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let end = try #require(text.firstMatch(of: /"expires":(\d+)/)?.1)
    try text.replacing(end, with: "1000").write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try server.ask("GET", caller, token: short).status == 401)
    #expect(try server.ask("GET", ending).status == 404)

    let impatient = try TestServer(with: ["impatient"])
    let connection = try RawConnection(port: impatient.ports.devices)
    connection.request("POST", path, token: "token", body: "{}")
    let found = connection.answer().body.firstMatch(of: /\/courier\/1\/[0-9a-f.]+/)
    let address = try #require(found).0
    for isChange in [true, false, false] {
      connection.request("GET", String(address))
      let answer = connection.answer()
      #expect(answer.status == 200 && answer.body.isEmpty != isChange)
    }
  }

  @Test("A list of tokens that cannot be read, or is gone, signs nobody out")
  func unreadableTokens() async throws {
    let server = try ServerProcess()
    let token = try await server.token("mac")
    let caller = ServerProcess.base + "users/caller"
    #expect(try server.ask("GET", caller, token: token).status == 200)
    let file = server.data + "/tokens"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try (text + "no token\n").write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try server.ask("GET", caller, token: token).status == 503)
    try FileManager.default.removeItem(atPath: file)
    #expect(try server.ask("GET", caller, token: token).status == 503)
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try server.ask("GET", caller, token: token).status == 200)
  }

  @Test("What a server makes is nobody else's to read")
  func permissions() async throws {
    let server = try ServerProcess()
    _ = try await server.token("mac")
    for name in ["cloud.sqlite", "tokens", "secret"] {
      let facts = try FileManager.default.attributesOfItem(atPath: "\(server.data)/\(name)")
      let mode = try #require(facts[.posixPermissions] as? Int)
      #expect(mode & 0o077 == 0, "\(name)")
    }
  }

  /// Asks for one record after the other, without a look at the responses.
  private static func create(_ names: [String], by connection: RawConnection, token: String) {
    for name in names {
      let fields = #"{"x":{"value":"1","type":"INT64"}}"#
      let body =
        #"{"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":"#
        + #"{"recordName":"\#(name)","recordType":"Note","fields":\#(fields)}}]}"#
      connection.request("POST", ServerProcess.base + "records/modify", token: token, body: body)
    }
  }

  /// The records that were answered: a connection may end between two responses, never within one.
  private static func answered(_ names: [String], by connection: RawConnection) -> [String] {
    for (place, name) in names.enumerated() {
      let answer = connection.answer()
      if answer.head.isEmpty { return Array(names.prefix(place)) }
      #expect(answer.status == 200 && answer.body.contains("\"\(name)\""), "\(answer)")
    }
    return names
  }

  @Test(
    "70. SIGTERM under load: no half answer, exit 0, and what was not answered goes on after the restart"
  )
  func terminated() async throws {
    let server = try ServerProcess()
    let token = try await server.token("mac")
    let handler = WebServicesOperationHandler(client: try server.client(token), zoneID: notes)
    #expect(try await handler.createZone(notes).get())
    // Some send one request behind the other, so that the signal comes between them.
    var busy: [(connection: RawConnection, token: String, names: [String])] = []
    for device in 0..<3 {
      let names = (0..<40).map { "b-\(device)-\($0)" }
      let token = try await server.token("busy-\(device)")
      busy.append((try RawConnection(port: server.port), token, names))
    }
    // Of each of the others: the requests that were answered, and behind them the one that was not.
    let sent: [Range<UInt64>] = try await withThrowingTaskGroup(of: Range<UInt64>.self) { group in
      for worker in 0..<4 {
        let handler = WebServicesOperationHandler(client: try server.client(token), zoneID: notes)
        group.addTask {
          let all = UInt64(worker * 1_000)..<UInt64(worker * 1_000 + 999)
          for token in all {
            let result = await handler.modify([note("r-\(token)")], token: token)
            guard case .success(let response) = result else { return all.lowerBound..<token }
            #expect(response.savedRecords.count == 1)
          }
          return all
        }
      }
      try Pause.wait("records_modify") {
        try server.admin("/metrics").body.contains("records_modify")
      }
      for one in busy { Self.create(one.names, by: one.connection, token: one.token) }
      #expect(Self.answered([busy[0].names[0]], by: busy[0].connection).count == 1)
      server.process.send(SIGTERM)
      #expect(server.process.wait() == 0)
      return try await group.reduce(into: []) { $0.append($1) }
    }
    var promised = [busy[0].names[0]]
    busy[0].names.removeFirst()
    for one in busy { promised += Self.answered(one.names, by: one.connection) }
    try server.restart()
    for token in sent.map(\.upperBound) {
      let result = await handler.modify([note("r-\(token)")], token: token)
      #expect(try result.get().savedRecords.count == 1)
    }
    let names = try await handler.fetchAll().map(\.recordID.name)
    #expect(names.count == Set(names).count)
    #expect(Set(names).isSuperset(of: promised), "what was answered is kept")
    let all = sent.flatMap { ($0.lowerBound...$0.upperBound).map { "r-\($0)" } }
    #expect(Set(names.filter { $0.hasPrefix("r-") }) == Set(all))
  }

  @Test("71. A clock that is an hour back changes neither tags nor feed")
  func clockBack() async throws {
    let server = try TestServer()
    let handler = try server.handler()
    let phone = try server.handler("other")
    #expect(try await handler.createZone(notes).get())
    let first = try await handler.modify([note("a")], token: 1).get().savedRecords[0]
    let page = try await phone.fetch().get()
    try server.set("back", true)
    var second = try? await handler.modify([note("a", ["x": 2], tag: first.changeTag)], token: 2)
      .get()
    for _ in 0..<1_000 where second == nil {
      // By the clock it has used up all that it may send, for a moment.
      let edit = note("a", ["x": 2], tag: first.changeTag)
      second = try? await handler.modify([edit], token: 2).get()
    }
    let tags = second?.savedRecords.map(\.changeTag)
    #expect(tags?.count == 1 && tags != [first.changeTag])
    var next = try? await phone.fetch(after: page.changeToken).get()
    for _ in 0..<1_000 where next == nil {
      next = try? await phone.fetch(after: page.changeToken).get()
    }
    #expect(next?.changedRecords.map { $0["x"] } == [2])
  }

  @Test("72. All who wait are told of a change; after a restart first polls are answered at once")
  func polls() async throws {
    let server = try ServerProcess()
    let client = try server.client(try await server.token("mac"))
    let handler = WebServicesOperationHandler(client: client, zoneID: notes)
    #expect(try await handler.createZone(notes).get())
    let path = "/database/1/cloudsync/production/tokens/create"
    var tokens: [String] = []
    for number in 0..<100 { tokens.append(try await server.token("d-\(number)")) }
    var waiting: [(connection: RawConnection, courier: String)] = []
    for token in tokens {
      let connection = try RawConnection(port: server.port)
      connection.request("POST", path, token: token, body: "{}")
      let found = try #require(connection.answer().body.firstMatch(of: /\/courier\/1\/[0-9a-f.]+/))
      let courier = String(found.0)
      connection.request("GET", courier)
      #expect(!connection.answer().body.isEmpty)
      waiting.append((connection, courier))
    }
    // Each is woken by the change; on a machine that is busy its time may have been over before.
    var woken = 0
    for round in 1...5 where woken < waiting.count {
      for one in waiting { one.connection.request("GET", one.courier) }
      // Not only some of them: who comes after the change has to ask again.
      try Pause.wait("polls") {
        try server.admin("/metrics").body.contains("cloudsync_polls \(waiting.count)\n")
      }
      let result = await handler.modify([note("r-\(round)")], token: UInt64(round + 1))
      #expect(try result.get().savedRecords.count == 1)
      woken = 0
      for one in waiting {
        var answer = one.connection.answer()
        if answer.body.contains("ck") { woken += 1 }
        for _ in 0..<10 where answer.status == 200 && answer.body.isEmpty {
          one.connection.request("GET", one.courier)
          answer = one.connection.answer()
        }
        #expect(answer.body.contains("ck"))
      }
    }
    #expect(woken == waiting.count)
    server.killNow()
    try server.restart()
    for one in waiting { #expect(try server.ask("GET", one.courier).body.contains("ck")) }
  }

  @Test(
    "1. After a backup was restored and renewed, no tag recurs, and devices upload what it lacks"
  )
  func renewed() async throws {
    let server = try ServerProcess()
    let token = try await server.token("mac")
    let handler = WebServicesOperationHandler(client: try server.client(token), zoneID: notes)
    #expect(try await handler.createZone(notes).get())
    let first = try await handler.modify([note("a")], token: 1).get().savedRecords[0]
    let words = ["renew", "--data", server.data]
    let said = Said()
    #expect(await ServerCommand.run(words, console: said.console) == 1)
    #expect(said.errors.contains("another cloudsync-server is at work"))
    server.process.send(SIGTERM)
    #expect(server.process.wait() == 0)
    let files = ["cloud.sqlite", "cloud.sqlite-wal"]
    let backup = files.map { FileManager.default.contents(atPath: "\(server.data)/\($0)") }
    try server.restart()
    let lost = try await handler.modify([note("a", ["x": 2], tag: first.changeTag)], token: 2).get()
    let seen = try await handler.fetch().get().changeToken
    server.killNow()
    for name in ["cloud.sqlite", "cloud.sqlite-wal", "cloud.sqlite-shm"] {
      try? FileManager.default.removeItem(atPath: "\(server.data)/\(name)")
    }
    for (name, data) in zip(files, backup) {
      try data?.write(to: URL(fileURLWithPath: "\(server.data)/\(name)"))
    }
    #expect(await ServerCommand.run(words, console: said.console) == 0)
    try server.restart()
    let error = await handler.fetch(after: seen).error
    #expect(error?.code == .zoneNotFound && error?.isEncryptedDataReset == true, "\(error as Any)")
    let lostTag = lost.savedRecords[0].changeTag
    let edit = note("a", ["x": 3], tag: first.changeTag)
    let saved = try await handler.modify([edit], token: 3).get().savedRecords
    #expect(saved.count == 1 && saved.first?.changeTag != lostTag)
    // Also when the record has been edited as often as it was before the backup was restored.
    let stale = await handler.modify([note("a", ["x": 4], tag: lostTag)], token: 4)
    let codes = try stale.get().failures.map(\.error.code)
    #expect(codes == [.serverRecordChanged])
  }
}

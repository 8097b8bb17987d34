import CloudSyncLocalCloud
import CloudSyncService
import CloudSyncSession
import CloudSyncWebServices
import Foundation
import Testing

@testable import CloudSyncServer

@Suite("What nobody is to read")
struct SecretTests {
  @Test("68. Neither logs nor metrics nor errors have tokens, values or names")
  func logs() async throws {
    let server = try ServerProcess(#function, ["--log-level", "debug"])
    let token = try await server.token("mac")
    let handler = WebServicesOperationHandler(client: try server.client(token), zoneID: notes)
    #expect(try await handler.createZone(notes).get())
    let secret = note("secret-name", ["secretfield": "secret-value"])
    #expect(try await handler.modify([secret], token: 1).get().savedRecords.count == 1)
    #expect(try await handler.modify([secret], token: 2).get().failures.count == 1)
    #expect(try await handler.fetchAll().count == 1)
    var said = ""
    for (path, sent) in [
      ("records/modify", token), ("records/secret-name", token), ("users/caller", "secret-token"),
      ("records/modify?ckAPIToken=secret-token", token), ("../secret-name", token),
    ] {
      let body = #"{"secretfield":["secret-value"}"#
      said += try server.ask("POST", ServerProcess.base + path, token: sent, body: body).body
    }
    let connection = try RawConnection(port: server.port)
    connection.send("GET /secret-name HTTP/1.1\r\nBroken secret-token\r\n\r\n")
    said += connection.answer().body
    said += try server.admin("/metrics").body + server.admin("/secret-name").body
    server.process.send(SIGTERM)
    #expect(server.process.wait() == 0)
    said += server.process.output + server.process.errors
    for word in [token, "secret-name", "secret-value", "secret-token", "secretfield"] {
      #expect(!said.contains(word), "\(word): \(said)")
    }
    let list = try String(contentsOfFile: server.data + "/tokens", encoding: .utf8)
    #expect(!list.contains(token) && !list.contains(token.dropFirst(4)))
    let facts = try FileManager.default.attributesOfItem(atPath: server.data + "/tokens")
    #expect(facts[.posixPermissions] as? Int == 0o600)
  }

  @Test("What the server has in memory gets into no core dump, whatever the system allows")
  func coreDumps() throws {
    // It is started with as large a limit as there may be.
    let server = try ServerProcess(startedBy: { _ in
      ["/bin/sh", "-c", "ulimit -S -c \"$(ulimit -H -c)\" && exec \"$@\"", "sh"]
    })
    let path = "/proc/\(server.process.processID)/limits"
    let limits = try String(contentsOfFile: path, encoding: .utf8)
    let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
    #expect(try #require(line).split(separator: " ").suffix(3) == ["0", "0", "bytes"])
  }

  /// Names that would do something if they were taken for anything else.
  private static let hostileNames = [
    "'; DROP TABLE items; --", "../../etc/passwd", "%2e%2e%2f", "a\u{0}b",
    String(repeating: "\u{7f}", count: 255),
  ]

  @Test("64. Records, fields, zones and files of hostile names are stored and returned, or refused")
  func hostile() async throws {
    let server = try ServerProcess()
    let client = try server.client(try await server.token("mac"))
    var stored = 0
    for name in Self.hostileNames {
      let zone = ZoneID(name: name)
      let handler = WebServicesOperationHandler(
        client: client,
        zoneID: zone,
        assets: AssetCache(folder: server.folder.path("cache"))
      )
      if let error = await handler.createZone(zone).error {
        #expect(error.code == .invalidArguments, "\(name.debugDescription)")
        continue
      }
      let file = server.folder.path("file")
      try name.write(toFile: file, atomically: true, encoding: .utf8)
      let digest = Data(MemoryTokens.digest(of: name))
      let asset = Asset(sha256: digest, byteCount: Int64(name.utf8.count), location: file)
      func save(_ record: String, _ fields: [String: FieldValue], token: UInt64) async -> [String] {
        let recordID = RecordID(name: record, zoneID: zone)
        let edit = Record(recordType: "Note", recordID: recordID, fields: fields)
        switch await handler.modify([edit], token: token) {
        case .success(let response):
          #expect(response.failures.allSatisfy { $0.error.code == .invalidArguments })
          return response.savedRecords.map(\.recordID.name)
        case .failure(let error):
          let codes = error.itemErrors.map(\.error.code)
          #expect(error.code == .invalidArguments || codes == [.invalidArguments], "\(error)")
          return []
        }
      }
      let saved = await save(name, ["text": .string(name), "file": .asset(asset)], token: 1)
      #expect(await save("other", [name: 1], token: 2) == [], "no field has such a name")
      let found = try await handler.fetchAll()
      #expect(found.map(\.recordID.name) == saved)
      for record in found {
        #expect(record["text"] == .string(name))
        guard case .asset(let kept)? = record["file"] else {
          Issue.record("\(name.debugDescription) has no file")
          continue
        }
        #expect(try String(contentsOfFile: kept.location, encoding: .utf8) == name)
      }
      stored += found.count
    }
    #expect(stored > 0)
    // The files are the account's, and called by their digests.
    let cloud = LocalCloud(assetFolder: server.data + "/assets")
    let own = try #require(cloud.assetFolder(of: AccountIdentity("alice")))
    let files = server.folder.files(below: "server/assets").map { "\(server.data)/assets/\($0)" }
    #expect(files.count >= stored)
    for file in files {
      let name = file.dropFirst(own.count)
      #expect(file.hasPrefix(own) && name.wholeMatch(of: /\/[0-9a-f]{64}/) != nil, "\(file)")
    }
  }

  @Test(
    "64, 65. Whatever names and places a client writes, files have digits as names, and no other is opened"
  )
  func names() async throws {
    let server = try ServerProcess()
    let token = try await server.token("mac")
    let handler = WebServicesOperationHandler(client: try server.client(token), zoneID: notes)
    #expect(try await handler.createZone(notes).get())
    for (number, name) in Self.hostileNames.enumerated() {
      let result = await handler.modify([note(name)], token: UInt64(number + 1))
      let codes = (try? result.get().failures.map(\.error.code)) ?? [result.error?.code]
      #expect(codes == [] || codes == [.invalidArguments], "\(name)")
    }
    let before = try await handler.fetchAll().count
    let digest = String(repeating: "ab", count: 32)
    for place in ["fileURL", "location", "path"] {
      let body =
        #"{"atomic":false,"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":"#
        + #"{"recordName":"f-\#(place)","recordType":"Note","fields":{"file":{"type":"ASSETID","value":"#
        + #"{"\#(place)":"/etc/passwd","sha256":"\#(digest)","size":100}}}}}]}"#
      let answer = try server.post("records/modify", body, token: token)
      #expect(
        answer.body.contains("serverErrorCode") && !answer.body.contains("root:"),
        "\(answer)"
      )
    }
    #expect(try await handler.fetchAll().count == before)
    let known = [
      "cloud.sqlite", "cloud.sqlite-shm", "cloud.sqlite-wal", "lock", "secret", "tokens",
      "tokens.lock",
    ]
    for file in server.folder.files(below: "server") { #expect(known.contains(file), "\(file)") }
  }

  private static let strace = "/usr/bin/strace"

  @Test(
    "65. A trace of system calls: no file is opened, changed or removed at a place that a client names",
    .enabled(if: FileManager.default.isExecutableFile(atPath: strace))
  )
  func trace() async throws {
    let outside = try Folder("outside")
    let trace = outside.path("trace")
    // The tracer is a process of its own beside the server.
    let server = try ServerProcess(startedBy: { _ in
      [Self.strace, "-D", "-f", "-q", "-s", "300", "-e", "trace=%file", "-o", trace]
    })
    let token = try await server.token("mac")
    let client = try server.client(token)
    let handler = WebServicesOperationHandler(
      client: client,
      zoneID: notes,
      assets: AssetCache(folder: outside.path("cache"))
    )
    #expect(try await handler.createZone(notes).get())
    let secret = outside.path("client-names-this")
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: secret))
    let digest = Data([
      0x03, 0x90, 0x58, 0xc6, 0xf2, 0xc0, 0xcb, 0x49, 0x2c, 0x53, 0x3b, 0x0a, 0x4d, 0x14, 0xef,
      0x77, 0xcc, 0x0f, 0x78, 0xab, 0xcc, 0xce, 0xd5, 0x28, 0x7d, 0x84, 0xa1, 0xa2, 0x01, 0x1c,
      0xfb, 0x81,
    ])
    let names = [
      "../../client-names-this", "client-names-this", secret, "%2e%2e/client-names-this",
    ]
    for place in ["location", "fileURL", "path", "downloadURL", "receipt"] {
      for name in names {
        let value =
          #"{"\#(place)":"\#(name)","sha256":"\#(digest.base64EncodedString())","size":3}"#
        let body =
          #"{"atomic":false,"zoneID":{"zoneName":"\#(name)"},"operations":[{"operationType":"create","record":"#
          + #"{"recordName":"\#(name)","recordType":"Note","fields":{"file":{"type":"ASSETID","value":\#(value)}}}}]}"#
        for zone in [body, body.replacing(#""zoneName":"\#(name)""#, with: #""zoneName":"Notes""#)]
        {
          let answer = try server.post("records/modify", zone, token: token)
          #expect(answer.body.contains("serverErrorCode") || answer.status >= 400, "\(answer)")
        }
        for path in ["/assets/1/\(name)", "/courier/1/\(name)", "/\(name)"] {
          _ = try server.ask("GET", path, token: token)
        }
      }
    }
    // What the trace has to show: a file that came by an upload.
    let asset = Asset(sha256: digest, byteCount: 3, location: secret)
    let saved = await handler.modify([note("good", ["file": .asset(asset)])], token: 9)
    #expect(try saved.get().savedRecords.count == 1)
    server.process.send(SIGTERM)
    #expect(server.process.wait() == 0)
    func lines() -> [Substring] {
      (try? String(contentsOfFile: trace, encoding: .utf8))?.split(separator: "\n") ?? []
    }
    try Pause.wait("the trace") { lines().contains { $0.contains("+++ exited") } }
    let file = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(
      lines().contains { $0.contains("openat") && $0.contains("/assets/") && $0.contains(file) }
    )
    for line in lines() where line.contains("client-names-this") { Issue.record("\(line)") }
  }

  @Test("The commands for tokens say what is wrong, and the list names no token")
  func commands() async throws {
    let folder = try Folder("tokens")
    let data = folder.path("data")
    let said = Said()
    func run(_ words: String...) async -> Int32 {
      await ServerCommand.run(words, console: said.console)
    }
    #expect(await run() == 2)
    #expect(await run("frob") == 2)
    #expect(await run("serve") == 2)
    #expect(await run("serve", "--data", data, "--listen", "0.0.0.0:80") == 2)
    #expect(await run("serve", "--data", data, "--listen", "80") == 2)
    #expect(await run("serve", "--data", data, "--quota", "no") == 2)
    #expect(await run("token", "add", "--data", data, "--account", "a") == 2)
    #expect(await run("token", "list", "--data", data) == 1)
    #expect(await run("token", "add", "--data", data, "--account", "a", "--device", "b\n") == 2)
    #expect(await run("renew", "--data", data) == 1)
    #expect(!FileManager.default.fileExists(atPath: data))
    let token = try await ServerProcess.token(data, "alice", "mac", days: 3)
    _ = try await ServerProcess.token(data, "alice", "phone")
    #expect(await run("token", "list", "--data", data) == 0)
    #expect(said.output.contains("alice") && said.output.contains("phone"))
    #expect(!said.output.contains(token))
    #expect(await run("token", "revoke", "--data", data) == 2)
    #expect(await run("token", "revoke", "--data", data, "nothing") == 1)
    let phone = ["token", "revoke", "--data", data, "--account", "alice", "--device", "phone"]
    #expect(await ServerCommand.run(phone, console: said.console) == 0)
    let list = try TokenList(path: data + "/tokens").entries
    #expect(list.map(\.device) == ["mac"] && list[0].expires == list[0].created + 3 * 86_400)
    try "{}\n".write(toFile: data + "/tokens", atomically: true, encoding: .utf8)
    #expect(await run("token", "list", "--data", data) == 1)
    #expect(said.errors.contains("tokens:1: this is no token"))
    for command in ["serve", "token", "renew"] { #expect(await run(command, "--help") == 0) }
  }
}

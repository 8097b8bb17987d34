import CloudSyncService
import CloudSyncSession
import CloudSyncWebServices
import Foundation
import Testing

@testable import CloudSyncServer

@Suite("Limits of the server")
struct LimitTests {
  private static let zone = #""zoneID":{"zoneName":"Notes"}"#

  private static func create(_ name: String, _ text: String = "x") -> String {
    #"{"operationType":"create","record":{"recordName":"\#(name)","recordType":"Note","fields":"#
      + #"{"text":{"value":"\#(text)","type":"STRING"}}}}"#
  }

  private static func modification(_ operations: [String]) -> String {
    "{\"atomic\":false,\(zone),\"operations\":[\(operations.joined(separator: ","))]}"
  }

  private static func makeZone(_ server: ServerProcess, _ token: String) throws {
    let body = "{\"operations\":[{\"operationType\":\"create\",\"zone\":{\(zone)}}]}"
    #expect(try server.post("zones/modify", body, token: token).status == 200)
  }

  /// The most memory that a process has had at a time.
  private static func mostMemory(of process: Running) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process.processID)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let words = line?.split(separator: " ") ?? []
    return try #require(words.compactMap { Int($0) }.first) * 1_024
  }

  /// A piece of a body whose length nobody has told.
  private static func chunk(_ text: String) -> [UInt8] {
    Array("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n".utf8)
  }

  @Test("Files that clients download slowly are not in memory as a whole")
  func slowDownloads() async throws {
    let server = try ServerProcess()
    let token = try await server.token("mac")
    try Self.makeZone(server, token)
    let file = server.folder.path("file")
    let bytes = Data(repeating: 0x61, count: 20_000_000)
    try bytes.write(to: URL(fileURLWithPath: file))
    let digest = Data(MemoryTokens.digest(of: String(decoding: bytes, as: UTF8.self)))
    let asset = Asset(sha256: digest, byteCount: Int64(bytes.count), location: file)
    let zone = ZoneID(name: "Notes")
    let handler = WebServicesOperationHandler(
      client: try server.client(token),
      zoneID: zone,
      assets: AssetCache(folder: server.folder.path("cache"))
    )
    let recordID = RecordID(name: "a", zoneID: zone)
    let edit = Record(recordType: "Note", recordID: recordID, fields: ["file": .asset(asset)])
    _ = try await handler.modify([edit], token: 1).get()
    let page = try server.post("changes/zone", "{\"zones\":[{\(Self.zone)}]}", token: token).body
    let start = try #require(page.firstRange(of: #""downloadURL":""#)?.upperBound)
    let path = String(page[start...].prefix { $0 != "\"" })
    let before = try Self.mostMemory(of: server.process)

    // They ask, and read nothing.
    let slow = try (0..<40).map { _ in try RawConnection(port: server.port) }
    for connection in slow { connection.request("GET", path) }
    #expect(try server.ask("GET", path).body.utf8.count == bytes.count)
    let grown = try Self.mostMemory(of: server.process) - before
    // What is on its way to each of them, and is not the whole file.
    #expect(grown < slow.count * bytes.count / 4, "\(grown)")
    for connection in slow.prefix(2) { #expect(connection.answer().body.utf8.count == bytes.count) }
  }

  @Test("62. A body that is too large, endless or short: 413, 413, closed, and nothing is stored")
  func bodies() async throws {
    let server = try ServerProcess()
    let token = try await server.token("mac")
    try Self.makeZone(server, token)
    let path = ServerProcess.base + "records/modify"
    // As much as there may be is read, and found to be no request.
    let spaces = String(repeating: " ", count: 4_000_000)
    #expect(try server.post("records/modify", spaces, token: token).status == 400)
    let before = try Self.mostMemory(of: server.process)

    let large = try RawConnection(port: server.port)
    large.request("POST", path, token: token, headers: ["Content-Length: 4000001"])
    #expect(large.answer().status == 413)
    large.waitForEnd()

    // Whoever sends a little too much, and waits, is told; the other may be closed before it reads.
    let chunk = Self.chunk(String(repeating: " ", count: 65_536))
    for (count, statuses) in [(64, [413]), (2_000, [413, 0])] {
      let endless = try RawConnection(port: server.port)
      endless.request("POST", path, token: token, headers: ["Transfer-Encoding: chunked"])
      // It begins with a request that is whole: whoever cuts off the rest would store it.
      endless.send(Self.chunk(Self.modification([Self.create("endless")])))
      for _ in 0..<count where endless.send(chunk) {}
      #expect(statuses.contains(endless.answer().status))
      endless.waitForEnd()
    }
    // The last one alone has sent twice as much.
    #expect(try Self.mostMemory(of: server.process) - before < 64_000_000)

    let short = try RawConnection(port: server.port)
    short.request("POST", path, token: token, headers: ["Content-Length: 1000"])
    // What comes is a whole request too, and spaces.
    let half = Self.modification([Self.create("short")])
    short.send(half + String(repeating: " ", count: 500 - half.utf8.count))
    #expect(short.answer().status == 0, "it is closed without a word")

    let page = try server.post("changes/zone", "{\"zones\":[{\(Self.zone)}]}", token: token)
    #expect(page.status == 200 && page.body.contains("\"records\":[]"), "\(page.body)")
    let memory = try server.admin("/metrics").body.split(separator: "\n")
      .first { $0.hasPrefix("process_resident_memory_bytes") }
      .flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
    #expect(try #require(memory) < 200_000_000)
  }

  @Test(
    "61. 1,000 clients who send headers byte by byte are closed, and others are served meanwhile"
  )
  func slowHeaders() async throws {
    // As many files as the system allows, for the server that is started here too.
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, 16_384)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let server = try ServerProcess()
    let token = try await server.token("mac")
    let slow = try (0..<1_000).map { _ in try RawConnection(port: server.port) }
    for connection in slow { connection.send("GET / HTTP/1.1\r\nX: ") }
    for _ in 0..<50 {
      let answer = try server.ask("GET", ServerProcess.base + "users/caller", token: token)
      #expect(answer.status == 200)
    }
    // Each goes on as slowly as it likes: it ends although it has never stopped.
    var open = slow
    try Pause.wait("the connections' end") {
      open = open.filter { $0.send("x") }
      return open.isEmpty
    }
  }

  @Test("69. What is no request of the API is told so, with its status")
  func wrongRequests() async throws {
    let server = try ServerProcess()
    let token = try await server.token("mac")
    try Self.makeZone(server, token)
    let many = Self.modification((0..<401).map { Self.create("n\($0)") })
    #expect(try server.post("records/modify", many, token: token).status == 400)
    let twice = Self.modification([Self.create("a"), Self.create("a")])
    #expect(try server.post("records/modify", twice, token: token).status == 400)
    let base = ServerProcess.base
    #expect(try server.ask("GET", base + "records/modify", token: token).status == 405)
    #expect(try server.ask("POST", base + "frob", token: token, body: "{}").status == 404)
    #expect(try server.ask("GET", "/", token: token).status == 404)
    #expect(try server.ask("POST", base + "records/modify", token: token).status == 400)
    let packed = try server.ask(
      "POST",
      base + "records/modify",
      token: token,
      body: "x",
      headers: ["Content-Encoding: gzip"]
    )
    #expect(packed.status == 415)
    let page = try server.post("changes/zone", "{\"zones\":[{\(Self.zone)}]}", token: token)
    #expect(page.body.contains("\"records\":[]"), "\(page.body)")
  }

  @Test("67. After many wrong tokens an address is not listened to; others are")
  func wrongTokens() async throws {
    let server = try ServerProcess()
    let token = try await server.token("mac")
    let path = ServerProcess.base + "users/caller"
    var statuses: [Int] = []
    let connection = try RawConnection(port: server.port)
    for number in 0..<1_000 {
      connection.request("GET", path, token: "wrong-\(number)")
      statuses.append(connection.answer().status)
    }
    #expect(statuses.prefix(50).allSatisfy { $0 == 401 })
    #expect(statuses.contains(429) && Set(statuses) == [401, 429])
    connection.request("GET", path, token: token)
    #expect(connection.answer().status == 429, "nor to a right one, so that nobody can try on")
    let elsewhere = try RawConnection(port: server.port, from: 0x7f00_0002)
    elsewhere.request("GET", path, token: token)
    #expect(elsewhere.answer().status == 200)
    // A proxy says for whom it asks.
    let proxy = try RawConnection(port: server.port)
    proxy.request("GET", path, token: token, headers: ["X-Forwarded-For: 10.0.0.1, 192.0.2.7"])
    #expect(proxy.answer().status == 200)
  }

  @Test("Headers that are too many or too long are refused, and nothing of them is kept")
  func headers() async throws {
    let server = try ServerProcess()
    let many = (0..<120).map { "X-Header-\($0): x" }
    #expect([0, 400, 431].contains(try server.ask("GET", "/", headers: many).status))
    let long = ["X-Long: " + String(repeating: "x", count: 20_000)]
    #expect([0, 400, 431].contains(try server.ask("GET", "/", headers: long).status))
    #expect(try server.admin("/live").status == 200)
  }

  @Test(
    "A token has so many requests under way, bodies have so much memory, and both are given back"
  )
  func gate() {
    let gate = RequestGate(requestLimit: 2, byteLimit: 100, senderByteLimit: 70)
    #expect(gate.enter("a") && gate.enter("a") && !gate.enter("a") && gate.enter("b"))
    gate.leave("a")
    #expect(gate.enter("a") && !gate.enter("a"))
    // What one account promises leaves room for the others.
    #expect(gate.take(bytes: 60, of: "a") && !gate.take(bytes: 11, of: "a"))
    #expect(!gate.take(bytes: 41, of: "b") && gate.take(bytes: 40, of: "b"))
    gate.give(bytes: 60, of: "a")
    #expect(gate.take(bytes: 60, of: "a") && !gate.take(bytes: 1, of: "b"))
  }
}

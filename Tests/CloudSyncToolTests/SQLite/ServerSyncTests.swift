import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncLoopback
import CloudSyncService
import CloudSyncTestSupport
import Foundation
import Testing

@testable import cloudsync

/// The tool with a server in this process; what needs processes is tested in Examples/Server.
@Suite("cloudsync sync with a server")
struct ServerSyncTests {
  /// A service behind a socket, and what it was asked for.
  private struct Bench {
    let harness: ToolHarness
    let server: LoopbackServer
    let operations = Locked<[String]>([])

    init(_ harness: ToolHarness) throws {
      self.harness = harness
      let cloud = LocalCloud(assetFolder: harness.path("kept"))
      let tokens = MemoryTokens()
      for (account, device) in [("alice", "a"), ("alice", "b"), ("bob", "a")] {
        let access = ServiceAccess(account: AccountIdentity(account), device: device)
        tokens.add(token: "of-\(account)-\(device)", access: access)
        let path = harness.path("\(account)-\(device).token")
        try "of-\(account)-\(device)\n".write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o600)
      }
      let service = CloudService(cloud: cloud, tokens: tokens)
      server = try LoopbackServer { [operations] request, completion in
        let name = request.path.split(separator: "/").suffix(2).joined(separator: "/")
        operations.withLock { $0.append(name) }
        service.respond(to: request) { completion($0) }
      }
    }

    func sync(
      _ name: String,
      as account: String = "alice",
      with more: [String] = []
    ) async -> ToolHarness.Outcome {
      let words = [
        "sync", harness.path("\(name).db"), "--cloud", server.origin, "--all", "--create",
        "--token-file",
        harness.path("\(account)-\(name).token"),
      ]
      return await ServerSyncTests.tool(words + more)
    }
  }

  /// Runs the tool on a thread of its own: it waits for what needs the threads that tests run on.
  private static func tool(_ words: [String]) async -> ToolHarness.Outcome {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let lines = Locked(("", ""))
        let console = Console(
          output: { text in lines.withLock { $0.0 += text } },
          errors: { text in lines.withLock { $0.1 += text } }
        )
        let code = Tool.run(with: words, console: console)
        let (output, errors) = lines.withLock { $0 }
        continuation.resume(returning: .init(code: code, output: output, errors: errors))
      }
    }
  }

  /// What a demonstration tells scripts.
  private struct DemoReport: Decodable {
    var isEqual: Bool
    var rounds: Int
    var network: [String: Int]
    var report: String
  }

  /// Runs the tool in a process of its own, where no other test's work is in front of its own.
  private static func process(
    _ words: [String],
    in harness: ToolHarness
  ) async throws -> ToolHarness.Outcome {
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let path = harness.path("output.txt")
    try Data().write(to: URL(fileURLWithPath: path))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    let process = Process()
    process.executableURL = folder.appendingPathComponent("cloudsync")
    process.arguments = words
    process.standardOutput = file
    process.standardError = file
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do { try process.run() } catch {
        process.terminationHandler = nil
        continuation.resume(throwing: error)
      }
    }
    try file.close()
    let output = try String(contentsOfFile: path, encoding: .utf8)
    return .init(code: process.terminationStatus, output: output, errors: "")
  }

  /// Runs a body with a folder that is removed afterwards.
  private static func run(
    _ name: String = #function,
    _ body: (ToolHarness) async throws -> Void
  ) async throws {
    let base = TestPath.folder
    let word = name.prefix { $0 != "(" }
    let process = ProcessInfo.processInfo.processIdentifier
    let harness = ToolHarness(folder: "\(base)/cloudsync-server-\(word)-\(process)")
    try FileManager.default.createDirectory(
      atPath: harness.folder,
      withIntermediateDirectories: true
    )
    defer { try? FileManager.default.removeItem(atPath: harness.folder) }
    try await body(harness)
  }

  private static let schema = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v, photo BLOB)"

  @Test("78. Databases meet at a server; large BLOBs too, and nothing of them is left on the way")
  func meet() async throws {
    try await Self.run { harness in
      let bench = try Bench(harness)
      for name in ["a.db", "b.db"] { try harness.sql(name, Self.schema, "SELECT 1") }
      try harness.sql("a.db", "INSERT INTO t VALUES('x', 1, randomblob(60000))", "SELECT 1")
      #expect(await bench.sync("a").output.contains("sent 1,"))
      let dry = await bench.sync("b", with: ["--dry-run"])
      #expect(dry.output.contains("would send 0, store 1"), "\(dry)")
      #expect(await bench.sync("b").output.contains("received 1,"))
      try harness.sql("b.db", "UPDATE t SET v = 2", "SELECT 1")
      for name in ["b", "a"] { #expect(await bench.sync(name).code == 0) }
      #expect(try harness.contents("a.db") == harness.contents("b.db"))
      #expect(try harness.sql("a.db", "SELECT v FROM t") == ["2"])
      #expect(try harness.files().filter { $0.contains("cloudsync") } == [])
    }
  }

  @Test("Histories meet at a server, in commits over the size of a record too")
  func histories() async throws {
    try await Self.run { harness in
      let bench = try Bench(harness)
      func history(
        _ command: String,
        _ name: String,
        _ more: [String] = []
      ) async -> ToolHarness.Outcome {
        let words = [
          "history", command, harness.path("\(name).db"), "--cloud", bench.server.origin,
          "--token-file", harness.path("alice-\(name).token"),
        ]
        return await Self.tool(words + more)
      }
      try harness.sql("a.db", Self.schema, "INSERT INTO t VALUES('x', 1, randomblob(900000))")
      #expect(harness.tool("history", "init", "@a.db", "--all").code == 0)
      #expect(await history("sync", "a").errors.contains("add --create"))
      #expect(await history("sync", "a", ["--create"]).output.contains("sent 1 commit"))
      #expect(await history("clone", "b").output.contains("1 commit, 1 row"))
      try harness.sql("b.db", "UPDATE t SET v = 2", "SELECT 1")
      for name in ["b", "a"] { #expect(await history("sync", name).code == 0) }
      #expect(try harness.sql("a.db", "SELECT v, length(photo) FROM t") == ["2|900000"])
      #expect(try harness.files().filter { $0.contains("cloudsync") } == [])
    }
  }

  @Test("55. A demonstration through a server, over a network that loses requests and answers")
  func demo() async throws {
    try await Self.run { harness in
      let words = ["demo", "--server", "--seed", "3", "--keep", harness.path("demo")]
      let outcome = try await Self.process(words, in: harness)
      #expect(outcome.code == 0 && outcome.output.contains("All three are equal."), "\(outcome)")
      for line in outcome.output.split(separator: "\n") where !line.contains(harness.folder) {
        #expect(line.count <= 80, "\(line)")
      }
      #expect(await Self.tool(words + ["--faults", "none"]).code == 2)
      #expect(!outcome.output.contains("sends a modify request"), "\(outcome)")
      let files = Set(try FileManager.default.contentsOfDirectory(atPath: harness.path("demo")))
      #expect(files.isSuperset(of: ["report.html", "phone.html", "laptop.jsonl"]), "\(files)")

      if SuiteSize.isLong {
        let verbose = words.dropLast() + [harness.path("verbose"), "--verbose"]
        let told = try await Self.process(Array(verbose), in: harness)
        #expect(told.code == 0 && told.output.contains("sends a modify request"), "\(told)")
      }

      let more = ["demo", "--server", "--json", "--keep", harness.path("json")]
      let script = try await Self.process(more, in: harness)
      let result = try JSONDecoder().decode(DemoReport.self, from: Data(script.output.utf8))
      #expect(script.code == 0 && result.isEqual && result.rounds == 8, "\(script)")
      #expect(result.network["requests", default: 0] > 16, "\(script)")
      #expect(result.report == harness.path("json/report.html"), "\(script)")
    }
  }

  @Test("A zone that the server lacks is created only with --create, and the close one is named")
  func zones() async throws {
    try await Self.run { harness in
      let bench = try Bench(harness)
      for name in ["a.db", "b.db"] { try harness.sql(name, Self.schema, "SELECT 1") }
      let words = [
        "sync", harness.path("b.db"), "--all", "--cloud", bench.server.origin, "--token-file",
        harness.path("alice-b.token"),
      ]
      let empty = await Self.tool(words)
      #expect(empty.code == 1, "\(empty)")
      #expect(empty.errors.contains("no zone “Database”; add --create"), "\(empty)")
      #expect(bench.operations.withLock { !$0.contains("zones/modify") })
      #expect(await bench.sync("a").code == 0)
      for extra in [[], ["--dry-run"]] {
        let mistyped = await Self.tool(words + ["--zone", "Databse"] + extra)
        #expect(mistyped.code == 1, "\(mistyped)")
        #expect(mistyped.errors.contains("did you mean “Database”? Otherwise add --create"))
      }
      #expect(bench.operations.withLock { $0.count { $0 == "zones/modify" } } == 1)
      #expect(await Self.tool(words).code == 0, "the zone is there")
    }
  }

  @Test("77. A dry run sends no request that writes")
  func dryRun() async throws {
    try await Self.run { harness in
      let bench = try Bench(harness)
      try harness.sql("a.db", Self.schema, "INSERT INTO t VALUES('x', 1, NULL)", "SELECT 1")
      let outcome = await bench.sync("a", with: ["--dry-run"])
      #expect(outcome.output.contains("would send 1, store 0"), "\(outcome)")
      let reading = ["changes/zone", "records/lookup", "users/caller"]
      let sent = bench.operations.withLock { $0 }
      #expect(!sent.isEmpty && sent.allSatisfy { reading.contains($0) }, "\(sent)")
    }
  }

  @Test("75. A database of a file, of another account, of a server: refused where it is foreign")
  func foreign() async throws {
    try await Self.run { harness in
      let bench = try Bench(harness)
      try harness.sql("a.db", Self.schema, "INSERT INTO t VALUES('x', 1, NULL)", "SELECT 1")
      #expect(harness.tool("sync", "@a.db", "--cloud", "@cloud", "--create", "--all").code == 0)
      let refused = await bench.sync("a")
      #expect(
        refused.code == 1 && refused.errors.contains("synced with another cloud"),
        "\(refused)"
      )
      #expect(harness.tool("detach", "@a.db").code == 0)
      #expect(await bench.sync("a").code == 0)
      let stranger = await bench.sync("a", as: "bob")
      #expect(stranger.code == 1 && stranger.errors.contains("“alice”"), "\(stranger)")
      let file = harness.tool("sync", "@a.db", "--cloud", "@cloud", "--create", "--all")
      #expect(file.code == 1 && file.errors.contains("synced with another cloud"), "\(file)")
      #expect(await bench.sync("a").code == 0)
    }
  }

  @Test("74. A token that others could read is refused, as is an address with more than a place")
  func refusals() async throws {
    try await Self.run { harness in
      let bench = try Bench(harness)
      try harness.sql("a.db", Self.schema, "INSERT INTO t VALUES('x', 1, NULL)", "SELECT 1")
      let open = harness.path("open.token")
      try "secret-word".write(toFile: open, atomically: true, encoding: .utf8)
      chmod(open, 0o644)
      let origin = bench.server.origin
      let good = harness.path("alice-a.token")
      let wrong = [
        [origin, "--token", "secret-word"], ["https://secret-word@sync.example.org"],
        ["https://sync.example.org?ckAPIToken=secret-word"], ["http://sync.example.org"],
        [origin, "--token-file", open], [origin, "--token-file", harness.path("none")],
        [origin, "--interval", "3", "--watch", "--token-file", good],
        [harness.path("cloud"), "--token-file", good],
      ]
      let before = try harness.files()
      let database = harness.bytes("a.db")
      for words in wrong {
        let refused = await Self.tool(["sync", harness.path("a.db"), "--all", "--cloud"] + words)
        #expect(refused.code == 2, "\(words)")
        #expect(refused.errors.split(separator: "\n").count == 2, "\(refused.errors)")
        #expect(!refused.errors.contains("secret-word"))
      }
      #expect(try harness.files() == before && harness.bytes("a.db") == database)
      #expect(bench.operations.withLock { $0 } == [])
      chmod(open, 0o600)
      let all = ["sync", harness.path("a.db"), "--all", "--cloud", origin, "--token-file", open]
      let unknown = await Self.tool(all)
      #expect(unknown.code == 1 && unknown.errors.contains("token"), "\(unknown.errors)")
    }
  }
}

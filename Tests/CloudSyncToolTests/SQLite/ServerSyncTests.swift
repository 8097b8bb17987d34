import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncLoopback
import CloudSyncService
import Foundation
import Testing

@testable import cloudsync

/// The tool with a server in this process; what needs processes is tested in Examples/Server.
@Suite("cloudsync sync with a server")
struct ServerSyncTests {
  /// A service behind a socket, and what it was asked for.
  private final class Bench {
    let harness: ToolHarness
    let server: LoopbackServer
    let operations = Locked<[String]>([])

    init(_ harness: ToolHarness) throws {
      self.harness = harness
      let cloud = LocalCloud(assetFolder: harness.path("kept"))
      let tokens = MemoryTokens()
      for (token, account) in [("of-alice", "alice"), ("of-bob", "bob")] {
        for device in ["a", "b"] {
          let access = ServiceAccess(account: AccountIdentity(account), device: device)
          tokens.add(token: "\(token)-\(device)", access: access)
          let path = harness.path("\(account)-\(device).token")
          try "\(token)-\(device)\n".write(toFile: path, atomically: true, encoding: .utf8)
          chmod(path, 0o600)
        }
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
      _ more: String...
    ) -> ToolHarness.Outcome {
      let lines = Locked(("", ""))
      let console = Console(
        output: { text in lines.withLock { $0.0 += text } },
        errors: { text in lines.withLock { $0.1 += text } }
      )
      let words = [
        "sync", harness.path("\(name).db"), "--cloud", server.origin, "--all", "--token-file",
        harness.path("\(account)-\(name).token"),
      ]
      let code = Tool.run(with: words + more, console: console)
      let (output, errors) = lines.withLock { $0 }
      return ToolHarness.Outcome(code: code, output: output, errors: errors)
    }
  }

  private static let schema = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v, photo BLOB)"

  @Test("Two databases meet at a server; large BLOBs too, and nothing of them is left on the way")
  func meet() throws {
    try ToolHarness.run { harness in
      let bench = try Bench(harness)
      for name in ["a.db", "b.db"] { try harness.sql(name, Self.schema, "SELECT 1") }
      try harness.sql("a.db", "INSERT INTO t VALUES('x', 1, randomblob(60000))", "SELECT 1")
      #expect(bench.sync("a").output.contains("sent 1,"))
      let dry = bench.sync("b", "--dry-run")
      #expect(dry.output.contains("would send 0, store 1"), "\(dry)")
      #expect(bench.sync("b").output.contains("received 1,"))
      try harness.sql("b.db", "UPDATE t SET v = 2", "SELECT 1")
      #expect(bench.sync("b").code == 0 && bench.sync("a").code == 0)
      #expect(try harness.contents("a.db") == harness.contents("b.db"))
      #expect(try harness.sql("a.db", "SELECT v FROM t") == ["2"])
      #expect(try harness.files().filter { $0.contains("cloudsync") } == [])
    }
  }

  @Test("77. A dry run sends no request that writes")
  func dryRun() throws {
    try ToolHarness.run { harness in
      let bench = try Bench(harness)
      try harness.sql("a.db", Self.schema, "INSERT INTO t VALUES('x', 1, NULL)", "SELECT 1")
      let outcome = bench.sync("a", "--dry-run")
      #expect(outcome.output.contains("would send 1, store 0"), "\(outcome)")
      let reading = ["changes/zone", "records/lookup", "users/caller"]
      let sent = bench.operations.withLock { $0 }
      #expect(!sent.isEmpty && sent.allSatisfy { reading.contains($0) }, "\(sent)")
    }
  }

  @Test(
    "75. A database of a file, of another account, of a server: refused where it does not belong"
  )
  func foreign() throws {
    try ToolHarness.run { harness in
      let bench = try Bench(harness)
      try harness.sql("a.db", Self.schema, "INSERT INTO t VALUES('x', 1, NULL)", "SELECT 1")
      #expect(harness.tool("sync", "@a.db", "--cloud", "@cloud", "--all").code == 0)
      let refused = bench.sync("a")
      #expect(
        refused.code == 1 && refused.errors.contains("belongs to another cloud"),
        "\(refused)"
      )
      #expect(harness.tool("detach", "@a.db").code == 0)
      #expect(bench.sync("a").code == 0)
      let stranger = bench.sync("a", as: "bob")
      #expect(stranger.code == 1 && stranger.errors.contains("“alice”"), "\(stranger)")
      let file = harness.tool("sync", "@a.db", "--cloud", "@cloud", "--all")
      #expect(file.code == 1 && file.errors.contains("belongs to another cloud"), "\(file)")
      #expect(bench.sync("a").code == 0)
    }
  }

  @Test("74. A token that others could read is refused, as is an address with more than a place")
  func refusals() throws {
    try ToolHarness.run { harness in
      let bench = try Bench(harness)
      try harness.sql("a.db", Self.schema, "SELECT 1")
      let open = harness.path("open.token")
      try "secret-word".write(toFile: open, atomically: true, encoding: .utf8)
      chmod(open, 0o644)
      let origin = bench.server.origin
      let wrong = [
        [origin, "--token", "secret-word"], ["https://secret-word@sync.example.org"],
        ["https://sync.example.org?ckAPIToken=secret-word"], ["http://sync.example.org"],
        [origin, "--token-file", open], [origin, "--token-file", harness.path("none")],
        [origin, "--interval", "3", "--watch", "--token-file", harness.path("alice-a.token")],
        [harness.path("cloud"), "--token-file", harness.path("alice-a.token")],
      ]
      let before = try harness.files()
      for words in wrong {
        var errors = ""
        let console = Console(output: { _ in }, errors: { errors += $0 })
        let all = ["sync", harness.path("a.db"), "--all", "--cloud"] + words
        #expect(Tool.run(with: all, console: console) == 2, "\(words)")
        #expect(
          errors.split(separator: "\n").count == 1 && !errors.contains("secret-word"),
          "\(errors)"
        )
      }
      #expect(try harness.files() == before)
      #expect(bench.operations.withLock { $0 } == [])
      try "wrong".write(toFile: open, atomically: true, encoding: .utf8)
      chmod(open, 0o600)
      try harness.sql("a.db", "INSERT INTO t VALUES('x', 1, NULL)", "SELECT 1")
      var errors = ""
      let console = Console(output: { _ in }, errors: { errors += $0 })
      let all = ["sync", harness.path("a.db"), "--all", "--cloud", origin, "--token-file", open]
      #expect(Tool.run(with: all, console: console) == 1)
      #expect(errors.contains("token"), "\(errors)")
    }
  }
}

import Foundation
import Testing

@testable import CloudSyncServer

/// Databases, and the tool that synchronizes them through a server, all of them processes of their own.
struct Databases {
  let server: ServerProcess
  let tokens: [String: String]

  init(
    _ server: ServerProcess,
    _ names: [String],
    schema: String,
    account: String = "alice"
  )
    async throws
  {
    self.server = server
    var tokens: [String: String] = [:]
    for name in names { tokens[name] = try await server.token(name, of: account) }
    self.tokens = tokens
    for name in names { try sql(name, schema) }
  }

  func path(_ name: String) -> String { server.folder.path("\(name).db") }

  /// Runs SQL; returns what it gives, a line each.
  @discardableResult
  func sql(_ name: String, _ text: String) throws -> [String] {
    let run = try Run("/usr/bin/env", ["sqlite3", "-cmd", ".timeout 60000", path(name), text])
    guard run.code == 0 else { throw TestFailure("\(text): \(run.errors)") }
    return run.output.split(separator: "\n").map(String.init)
  }

  func arguments(_ name: String, _ more: [String] = []) -> [String] {
    ["sync", path(name), "--cloud", server.origin, "--all", "--create", "--device", name] + more
  }

  func start(_ name: String, _ more: [String] = []) throws -> Running {
    let token = tokens[name] ?? ""
    return try Running(
      Program.tool,
      arguments(name, more),
      environment: ["CLOUDSYNC_TOKEN": token]
    )
  }

  @discardableResult
  func sync(_ name: String, _ more: [String] = []) throws -> String {
    let process = try start(name, more)
    guard process.wait() == 0 else { throw TestFailure("\(name): \(process.errors)") }
    return process.output
  }
}

@Suite("The tool and the server")
struct SyncTests {
  private static let schema = """
    CREATE TABLE IF NOT EXISTS lists(id TEXT PRIMARY KEY NOT NULL, name TEXT);
    CREATE TABLE IF NOT EXISTS items(
      id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists ON DELETE SET NULL, title TEXT, done INTEGER
    );
    """
  private static let dump = "SELECT * FROM lists ORDER BY id; SELECT * FROM items ORDER BY id"

  /// Numbers from a seed.
  private struct Dice {
    var state: UInt64

    mutating func below(_ bound: UInt64) -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state % bound
    }
  }

  @Test(
    "55. 10,000 random edits in two databases, processes killed on both sides: equal, and nothing is missing"
  )
  func kills() async throws {
    let server = try ServerProcess()
    let copies = try await Databases(server, ["one", "two", "new"], schema: Self.schema)
    var dice = Dice(state: 88_172_645_463_325_252)
    // What each row holds that only one of the two writes; nil where it was deleted last.
    var last: [String: String?] = [:]
    var kills = (tools: 0, servers: 0)
    for round in 0..<20 {
      var running: [(String, Running)] = []
      for name in ["one", "two"] {
        var text = "PRAGMA foreign_keys = ON; BEGIN;"
        for number in 0..<250 {
          let own = "\(name)-\(dice.below(50))"
          let list = "l\(dice.below(10))"
          switch dice.below(6) {
          case 0: text += "INSERT OR IGNORE INTO lists VALUES('\(list)', 'L\(number)');"
          case 1:
            text += "UPDATE items SET done = \(dice.below(9)) WHERE id LIKE 's-\(dice.below(10))%';"
          case 2: text += "DELETE FROM lists WHERE id = '\(list)';"
          case 3:
            text +=
              "INSERT OR IGNORE INTO items VALUES('s-\(dice.below(99))', NULL, 't\(number)', 0);"
          case 4 where dice.below(4) == 0:
            text += "DELETE FROM items WHERE id = '\(own)';"
            last[own] = .some(nil)
          default:
            let title = "edit \(round)-\(number)"
            text +=
              "INSERT INTO items VALUES('\(own)', NULL, '\(title)', 0)"
              + " ON CONFLICT DO UPDATE SET title = excluded.title;"
            last[own] = title
          }
        }
        try copies.sql(name, text + "COMMIT;")
        running.append((name, try copies.start(name)))
      }
      // One of the three is killed: a tool, or the server, which comes back.
      switch dice.below(3) {
      case 0:
        try Pause.wait("a request") { try server.admin("/metrics").body.contains("records_modify") }
        server.killNow()
        kills.servers += 1
        try server.restart()
      case let number:
        let victim = running[Int(number) - 1].1
        for _ in 0..<dice.below(40) where victim.isRunning { Pause.short() }
        victim.send(SIGKILL)
        kills.tools += 1
      }
      for (_, process) in running { _ = process.wait() }
    }
    for _ in 0..<2 { for name in ["one", "two"] { try copies.sync(name) } }
    // The server itself has everything: one that never edited gets the same.
    try copies.sync("new")
    let (one, two) = (try copies.sql("one", Self.dump), try copies.sql("two", Self.dump))
    #expect(one == two && one.count > 100)
    #expect(try copies.sql("new", Self.dump) == one)
    let titles = Set(
      try copies.sql("one", "SELECT id || '|' || title FROM items WHERE id NOT LIKE 's-%'")
    )
    let expected = last.compactMap { id, title in title.map { "\(id)|\($0)" } }
    #expect(titles == Set(expected) && last.count > expected.count)
    #expect(kills.tools > 0 && kills.servers > 0)
    for name in ["one", "two", "new"] {
      #expect(try copies.sql(name, "PRAGMA integrity_check") == ["ok"])
      let open = "SELECT count(*) FROM cloudsync_status WHERE status <> 'clean'"
      #expect(try copies.sql(name, open) == ["0"])
    }
  }

  @Test(
    "76. Two that watch pass on edits; while the server is away they say why, and go on by themselves"
  )
  func watch() async throws {
    let server = try ServerProcess()
    let copies = try await Databases(server, ["one", "two"], schema: Self.schema)
    let watchers = try ["one", "two"].map { try copies.start($0, ["--watch"]) }
    for watcher in watchers { try watcher.wait { $0.output.contains("sent") } }
    let title = "SELECT title FROM items"
    try copies.sql("one", "INSERT INTO items VALUES('a', NULL, 'first', 0)")
    try Pause.wait("first") { try copies.sql("two", title) == ["first"] }
    try copies.sql("two", "UPDATE items SET title = 'second'")
    try Pause.wait("second") { try copies.sql("one", title) == ["second"] }

    server.killNow()
    try copies.sql("one", "UPDATE items SET title = 'third'")
    for watcher in watchers { try watcher.wait { $0.errors.contains("waiting for http://") } }
    try server.restart()
    try Pause.wait("third") { try copies.sql("two", title) == ["third"] }
    for watcher in watchers {
      watcher.send(SIGINT)
      #expect(watcher.wait() == 0)
      #expect(watcher.errors.contains("responds again"))
    }
  }

  @Test("77. A dry run tells what would be done, and sends nothing that writes")
  func dryRun() async throws {
    let server = try ServerProcess()
    let copies = try await Databases(server, ["one", "two"], schema: Self.schema)
    try copies.sql("one", "INSERT INTO items VALUES('a', NULL, 'first', 0)")
    #expect(try copies.sync("one", ["--dry-run"]).contains("would send 1, store 0"))
    let writing = ["records_modify", "endpoint=\"zones\"", "subscriptions", "addresses"]
    let metrics = try server.admin("/metrics").body
    for name in writing { #expect(!metrics.contains(name), "\(metrics)") }
    try copies.sync("one")
    try copies.sql("two", "INSERT INTO items VALUES('b', NULL, 'other', 0)")
    let before = try server.admin("/metrics").body.split(separator: "\n")
      .filter { line in line.contains("requests_total") && writing.contains { line.contains($0) } }
    let words = try copies.sync("two", ["--dry-run"])
    #expect(words.contains("would send 1, store 1"), "\(words)")
    let after = try server.admin("/metrics").body.split(separator: "\n")
      .filter { line in line.contains("requests_total") && writing.contains { line.contains($0) } }
    #expect(before == after && !before.isEmpty)
    #expect(
      try copies.sql("two", "SELECT name FROM sqlite_schema WHERE name LIKE 'cloudsync%'") == []
    )
  }

  @Test("78. BLOBs go through the server and come back; nothing is left in folders on the way")
  func blobs() async throws {
    let server = try ServerProcess()
    let copies = try await Databases(
      server,
      ["one", "two"],
      schema: "CREATE TABLE photos(id TEXT PRIMARY KEY NOT NULL, bytes BLOB)"
    )
    for (number, count) in [0, 1, 49_999, 60_000, 3_000_000].enumerated() {
      try copies.sql("one", "INSERT INTO photos VALUES('p\(number)', randomblob(\(count)))")
    }
    try copies.sync("one")
    try copies.sync("two")
    let digest =
      "SELECT id, length(bytes), substr(hex(bytes), 1, 64), substr(hex(bytes), -64) FROM photos"
    #expect(try copies.sql("one", digest) == copies.sql("two", digest))
    #expect(try copies.sql("one", "SELECT count(*) FROM photos") == ["5"])
    try copies.sql(
      "one",
      "ATTACH '\(copies.path("two"))' AS two; DELETE FROM main.photos WHERE bytes ="
        + " (SELECT bytes FROM two.photos AS other WHERE other.id = main.photos.id)"
    )
    #expect(try copies.sql("one", "SELECT count(*) FROM photos") == ["0"], "all bytes were equal")
    let left = server.folder.files().filter { $0.contains("cloudsync") }
    #expect(left == [])
    let kept = server.folder.files(below: "server/assets")
    #expect(kept.count == 2)
    for file in kept { #expect(file.wholeMatch(of: /[0-9a-f]{64}\/[0-9a-f]{64}/) != nil) }
  }

  @Test("75. A database of another cloud or of another account is refused, and nothing is mixed")
  func foreign() async throws {
    let server = try ServerProcess()
    let copies = try await Databases(server, ["one"], schema: Self.schema)
    try copies.sql("one", "INSERT INTO items VALUES('a', NULL, 'mine', 0)")
    let cloud = server.folder.path("cloud")
    let file = ["sync", copies.path("one"), "--cloud", cloud, "--all", "--create"]
    #expect(try Run(Program.tool, file).code == 0)
    let refused = try copies.start("one")
    #expect(refused.wait() == 1)
    #expect(refused.errors.contains("another cloud"), "\(refused.errors)")

    #expect(try Run(Program.tool, ["detach", copies.path("one")]).code == 0)
    try copies.sync("one")
    let bob = try await server.token("one", of: "bob")
    let other = try Run(
      Program.tool,
      copies.arguments("one"),
      environment: ["CLOUDSYNC_TOKEN": bob]
    )
    #expect(other.code == 1 && other.errors.contains("“alice”") && other.errors.contains("“bob”"))
    let zones = try server.ask("GET", ServerProcess.base + "zones/list", token: bob)
    #expect(zones.status == 200 && zones.body.contains("\"zones\":[]"), "\(zones.body)")
    #expect(try Run(Program.tool, file).errors.contains("another cloud"))
    #expect(try copies.sync("one").contains("sent 0, "))
    #expect(try copies.sql("one", "SELECT title FROM items") == ["mine"])
  }

  /// The files beside a server's own, with their bytes.
  private static func files(beside server: ServerProcess) -> [String: Data] {
    var files: [String: Data] = [:]
    for name in server.folder.files() where !name.hasPrefix("server/") {
      files[name] = FileManager.default.contents(atPath: server.folder.path(name))
    }
    return files
  }

  @Test(
    "74. A secret as an argument, in an address, over a network, in a file of everybody's: one line, exit 2"
  )
  func refusals() async throws {
    let server = try ServerProcess()
    let copies = try await Databases(server, ["one"], schema: Self.schema)
    let file = server.folder.path("token")
    try "secret-word\n".write(toFile: file, atomically: true, encoding: .utf8)
    chmod(file, 0o644)
    let before = Self.files(beside: server)
    let wrong: [(words: [String], reason: String)] = [
      (["--cloud", server.origin, "--token", "secret-word"], "a token is no argument"),
      (["--cloud", server.origin, "--token=secret-word"], "a token is no argument"),
      (["--cloud", "https://secret-word@sync.example.org"], "neither a user"),
      (["--cloud", "https://sync.example.org/?ckAPIToken=secret-word"], "no query"),
      (["--cloud", "http://sync.example.org"], "http:// for this machine"),
      (["--cloud", server.origin, "--token-file", file], "others may read it"),
      (["--cloud", server.origin], "set CLOUDSYNC_TOKEN"),
      (["--cloud", "cloud", "--token-file", file], "--cloud names a file"),
    ]
    for (words, reason) in wrong {
      let arguments = ["sync", copies.path("one"), "--all"] + words
      let run = try Run("/usr/bin/env", ["-u", "CLOUDSYNC_TOKEN", Program.tool] + arguments)
      #expect(run.code == 2 && run.output.isEmpty, "\(words): \(run.errors)")
      #expect(run.errors.contains(reason), "\(words): \(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 2)
      #expect(run.errors.hasPrefix("cloudsync: error: ") && !run.errors.contains("secret-word"))
    }
    #expect(Self.files(beside: server) == before)
    // Nor was anybody asked.
    #expect(try !server.admin("/metrics").body.contains("cloudsync_requests_total{"))
    chmod(file, 0o600)
    let unknown = try Run(
      Program.tool,
      [
        "sync", copies.path("one"), "--all", "--create", "--cloud", server.origin, "--token-file",
        file,
      ]
    )
    #expect(unknown.code == 1 && unknown.errors.contains("token"), "\(unknown.errors)")
  }

  @Test("74. The tokens of Apple's service: missing, at the wrong place, in a file of everybody's")
  func appleRefusals() async throws {
    let server = try ServerProcess()
    let copies = try await Databases(server, ["one"], schema: Self.schema)
    let file = server.folder.path("web")
    try "secret-word\n".write(toFile: file, atomically: true, encoding: .utf8)
    chmod(file, 0o644)
    let apple = "https://api.apple-cloudkit.com/database/1/iCloud.a/development/private"
    let given = ["CLOUDSYNC_API_TOKEN=secret-word"]
    let wrong: [(environment: [String], words: [String])] = [
      (given, ["--cloud", apple]),
      ([], ["--cloud", apple, "--web-token-file", file]),
      (["CLOUDSYNC_API_TOKEN= "], ["--cloud", apple, "--web-token-file", file]),
      (given, ["--cloud", apple, "--web-token-file", file, "--token-file", file]),
      (given, ["--cloud", apple, "--web-token-file", file]),
      (given, ["--cloud", apple + "?ckWebAuthToken=secret-word", "--web-token-file", file]),
      (given, ["--cloud", "cloud", "--web-token-file", file]),
    ]
    let before = Self.files(beside: server)
    for (environment, words) in wrong {
      let start = ["-u", "CLOUDSYNC_TOKEN", "-u", "CLOUDSYNC_API_TOKEN"] + environment
      let arguments = [Program.tool, "sync", copies.path("one"), "--all"] + words
      let run = try Run("/usr/bin/env", start + arguments)
      #expect(run.code == 2 && run.output.isEmpty, "\(words): \(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 2, "\(run.errors)")
      #expect(run.errors.hasPrefix("cloudsync: error: ") && !run.errors.contains("secret-word"))
    }
    #expect(Self.files(beside: server) == before)
    // Nor was anybody asked.
    #expect(try !server.admin("/metrics").body.contains("cloudsync_requests_total{"))
    // A service that does not let these tokens in says so once, and the file keeps what it has.
    chmod(file, 0o600)
    let place = "\(server.origin)/database/1/cloudsync/production/private"
    let refused = try Run(
      Program.tool,
      ["sync", copies.path("one"), "--all", "--cloud", place, "--web-token-file", file],
      environment: ["CLOUDSYNC_API_TOKEN": "api-word"]
    )
    #expect(
      refused.code == 1 && refused.errors.contains("CLOUDSYNC_API_TOKEN"),
      "\(refused.errors)"
    )
    #expect(!refused.errors.contains("api-word") && !refused.errors.contains("secret-word"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "secret-word\n")
  }
}

import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import cloudsync

import Foundation

/// The tool itself is run here, as other processes, several at a time.
@Suite("cloudsync sync --watch")
struct WatchTests {
  /// The program beside the tests, where it has been built.
  private static var program: String? {
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let path = folder.appendingPathComponent("cloudsync").path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }

  /// A process that watches, and the lines that it writes.
  private final class Watcher {
    private let process = Process()
    private let output = Pipe()
    private var rest = Data()
    /// What it has written, line by line.
    private(set) var lines: [String] = []

    init(_ bench: ToolHarness, _ name: String, _ program: String) throws {
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = [
        "sync", bench.path(name), "--cloud", bench.path("cloud"), "--create", "--all",
        "--watch",
      ]
      process.standardOutput = output
      process.standardError = output
      try process.run()
    }

    /// Reads a line after the other until something is so; false if the process ends before.
    func wait(until isSo: () throws -> Bool) throws -> Bool {
      while true {
        while let end = rest.firstIndex(of: 0x0a) {
          lines.append(String(decoding: rest[..<end], as: UTF8.self))
          rest.removeSubrange(rest.startIndex...end)
          if try isSo() { return true }
        }
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { return false }
        rest += more
      }
    }

    func interrupt() -> Int32 {
      if process.isRunning { process.interrupt() }
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  @Test("What is edited just before the watch begins is not overlooked")
  func editBeforeTheWatch() throws {
    try ToolHarness.run { bench in
      try bench.sql("a.db", "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v)", "SELECT 1")
      var summaries: [String] = []
      var errors = ""
      let console = Console(
        output: { text in
          summaries.append(text)
          // The first is that of the run before the watch; a watch ends when its cloud goes.
          do {
            if summaries.count > 1 {
              try FileManager.default.moveItem(
                atPath: bench.path("cloud"),
                toPath: bench.path("old")
              )
            } else {
              try bench.sql("a.db", "INSERT INTO t VALUES('x', 1)", "SELECT 1")
            }
          } catch { Issue.record(error) }
        },
        errors: { errors += $0 }
      )
      let words = [
        "sync", bench.path("a.db"), "--cloud", bench.path("cloud"), "--create", "--all",
        "--watch",
      ]

      #expect(Tool.run(with: words, console: console) == 1)
      #expect(summaries.last?.contains("sent 1,") == true)
      #expect(errors.contains("the file was removed or replaced"))
    }
  }

  /// It takes as long as a connection waits for another.
  @Test("A watch ends when its database is replaced: what it would write nobody would see")
  func replacedDatabase() throws {
    try ToolHarness.run { bench in
      try bench.sql("a.db", "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v)", "SELECT 1")
      try bench.sql("b.db", "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v)", "SELECT 1")
      var errors = ""
      let console = Console(
        output: { _ in
          // The summary of the run before the watch.
          do {
            try FileManager.default.removeItem(atPath: bench.path("a.db"))
            try FileManager.default.moveItem(atPath: bench.path("b.db"), toPath: bench.path("a.db"))
          } catch { Issue.record(error) }
        },
        errors: { errors += $0 }
      )
      let code = Tool.run(
        with: [
          "sync", bench.path("a.db"), "--cloud", bench.path("cloud"), "--create", "--all",
          "--watch",
        ],
        console: console
      )

      #expect(code == 1)
      #expect(errors.contains("the file was removed or replaced"), "\(errors)")
    }
  }

  @Test("A watch goes on behind a transaction that takes long", .enabled(if: SuiteSize.isLong))
  func longTransaction() throws {
    let program = try #require(Self.program)
    try ToolHarness.run { bench in
      let schema = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v)"
      try bench.sql("a.db", schema, "PRAGMA journal_mode = WAL")
      let watcher = try Watcher(bench, "a.db", program)
      #expect(try watcher.wait { watcher.lines.last?.contains("sent 0") == true })
      let other = try SQLiteConnection(path: bench.path("a.db"))
      try other.execute("BEGIN IMMEDIATE")
      try bench.sql("b.db", schema, "INSERT INTO t VALUES('y', 1)")
      #expect(bench.tool("sync", "@b.db", "--cloud", "@cloud", "--create", "--all").code == 0)
      #expect(try watcher.wait { watcher.lines.last?.contains("another connection") == true })
      try other.execute("INSERT INTO t VALUES('x', 1); COMMIT")
      #expect(try watcher.wait { watcher.lines.last?.contains("received 1") == true })
      #expect(watcher.interrupt() == 0)
      #expect(try bench.sql("a.db", "SELECT id FROM t ORDER BY id") == ["x", "y"])
    }
  }

  @Test("Watching processes pass on what any program edits, until they are interrupted")
  func watch() throws {
    guard let program = Self.program else { return }
    try ToolHarness.run { bench in
      for name in ["a.db", "b.db"] {
        try bench.sql(name, "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v)", "SELECT 1")
      }
      let one = try Watcher(bench, "a.db", program)
      let other = try Watcher(bench, "b.db", program)
      defer {
        _ = one.interrupt()
        _ = other.interrupt()
      }
      for watcher in [one, other] {
        // One that could not begin would let the other wait for ever.
        try #require(
          try watcher.wait { true } && watcher.lines[0].contains("sent 0"),
          "\(watcher.lines)"
        )
      }

      try bench.sql("a.db", "INSERT INTO t VALUES('x', 1), ('y', 2)", "SELECT 1")
      #expect(try other.wait { try bench.contents("b.db").count == 2 })
      try bench.sql("b.db", "UPDATE t SET v = 3 WHERE id = 'x'", "SELECT 1")
      #expect(try one.wait { try bench.contents("a.db").contains("'t': 'x'|3") })

      #expect(bench.tool("detach", "@a.db").errors.contains("another cloudsync is at work"))
      #expect(one.interrupt() == 0 && other.interrupt() == 0)
      #expect(try bench.contents("a.db") == ["'t': 'x'|3", "'t': 'y'|2"])
      #expect(try bench.contents("b.db") == bench.contents("a.db"))
      #expect(try bench.files() == ["a.db", "b.db", "cloud"])
    }
  }
}

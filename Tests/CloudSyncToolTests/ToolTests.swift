import CloudSyncEventLog
import CloudSyncCore
import CloudSyncTestSupport
import Testing

@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The tool")
struct ToolTests {
  /// What a command line came to.
  private struct Outcome {
    var code: Int32
    var output: String
    var errors: String
  }

  private final class Lines {
    var output = ""
    var errors = ""
  }

  private static func run(_ arguments: String...) -> Outcome {
    let lines = Lines()
    let console = Console(output: { lines.output += $0 }, errors: { lines.errors += $0 })
    let code = Tool.run(with: arguments, console: console)
    return Outcome(code: code, output: lines.output, errors: lines.errors)
  }

  /// A log of a session that fails once and then saves two records, in a folder of its own.
  private static func withLog(_ name: String = #function, _ body: (String) throws -> Void) throws {
    let folder = URL(fileURLWithPath: TestPath.unique(name))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("session.jsonl").path
    let bench = CloudHarness { number, _ in number == 2 ? .failure(.networkFailure) : nil }
    let recorder = EventRecorder(.ring())
    recorder.attach(to: bench.session)
    bench.session.start()
    try bench.modify([.note("tea", 1), .note("milk", 2)])
    bench.world.runToEnd()
    try recorder.save(to: path, redactor: .none)
    try body(path)
  }

  @Test("Help is given for the tool and for every command, and wrong usage ends with 2")
  func usage() {
    #expect(Self.run("--help").output.contains("usage: cloudsync COMMAND"))
    #expect(Self.run("log", "--help").output.contains("summary"))
    for name in ["summary", "show", "state", "why", "verify", "rerun", "report"] {
      let help = Self.run("log", name, "--help")
      #expect(help.code == 0 && help.output.contains("usage: cloudsync log \(name) LOG"))
      let missing = Self.run("log", name)
      #expect(missing.code == 2 && missing.errors.contains("needs LOG"))
    }
    #expect(Self.run().code == 2)
    #expect(Self.run("frob").errors.contains("there is no command “frob”"))
    #expect(Self.run("log", "show", "x", "--frob").errors.contains("there is no option --frob"))
    #expect(Self.run("log", "state", "x", "--at", "soon").code == 1, "the file is looked at first")
    #expect(Self.run("log", "verify", "/nowhere").errors.contains("/nowhere: it cannot be opened"))
  }

  @Test("Every help text has at most 80 columns")
  func helpWidth() {
    var wide: [String] = []
    func check(_ command: Command) {
      wide += command.help.split(separator: "\n").filter { $0.count > 80 }
        .map { "\(command.call): \($0)" }
      command.subcommands.forEach(check)
    }
    check(Tool.root)
    #expect(wide == [])
  }

  @Test("The version says that it is not released, and which SQLite it runs with")
  func version() {
    let told = Self.run("--version")
    #expect(told.code == 0)
    #expect(told.output.hasPrefix("cloudsync 0.1.0-unreleased, with SQLite 3."), "\(told)")
  }

  @Test(
    "Options that are mistyped before a command, and names that are empty, are told as what they are",
    arguments: [
      (["--verson"], "there is no option --verson; did you mean “--version”?"),
      (["--hlep"], "there is no option --hlep; did you mean “--help”?"),
      (["log", "--hepl"], "there is no option --hepl; did you mean “--help”?"),
      (["history", "--frob"], "there is no option --frob; “cloudsync history --help” shows all"),
      (["--version", "x"], "--version stands by itself"),
      (["sync", "", "--cloud", "x"], "the name of the database is empty"),
      (["check", ""], "the name of the database is empty"),
      (["log", "verify", "x", ""], "the name of the log is empty"),
      (["log", "why", "", "1"], "the name of the log is empty"),
      (["sync", "x", "--cloud", "y", "--zone", ""], "--zone is empty: name a zone"),
    ] as [([String], String)]
  )
  func names(arguments: [String], words: String) {
    let lines = Lines()
    let console = Console(output: { lines.output += $0 }, errors: { lines.errors += $0 })
    #expect(Tool.run(with: arguments, console: console) == 2)
    #expect(lines.errors.contains(words), "\(lines.errors)")
    #expect(lines.output.isEmpty)
  }

  @Test("Every command answers about a valid log")
  func validLog() throws {
    try Self.withLog { path in
      let summary = Self.run("log", "summary", path)
      #expect(summary.code == 0 && summary.output.contains("zone:        Notes"), "\(summary)")
      #expect(Self.run("log", "verify", path).output.hasPrefix("valid: "))
      let report = Self.run("log", "verify", path, "--json")
      #expect(report.code == 0 && report.output.contains("\"isValid\" : true"), "\(report)")
      #expect(Self.run("log", "rerun", path).output.hasPrefix("faithful: "))
      let test = path + ".swift"
      let made = Self.run("log", "rerun", path, "--test", test, "--json")
      #expect(made.output.hasPrefix("{") && made.output.contains("session.jsonl.swift"))
      #expect(try String(contentsOfFile: test, encoding: .utf8).contains("@Test"))
      let retries = Self.run("log", "show", path, "--kind", "retry")
      #expect(retries.output.split(separator: "\n").count == 1)
      #expect(retries.output.contains("networkFailure"))
      let history = Self.run("log", "show", path, "--record", "tea", "--history")
      #expect(history.code == 0 && history.output.contains("retr"), "\(history)")
      let number = try #require(
        retries.output.split(separator: " ").first { UInt64($0) != nil || $0.hasPrefix("#") }
      )
      let why = Self.run("log", "why", path, String(number.drop { $0 == "#" }))
      #expect(
        why.code == 0 && why.output.contains("workFailure") || why.output.contains("startWork"),
        "\(why)"
      )
      #expect(Self.run("log", "state", path, "--at", "1").output.contains("after event 1"))
      #expect(
        Self.run("log", "state", path, "--at", "1", "--diff", "2").output.contains("eventCount")
      )
      #expect(Self.run("log", "state", path, "--at", "99999").errors.contains("there is no event"))
      #expect(Self.run("log", "show", path, "--kind", "frob").code == 2)
      for command in ["summary", "rerun", "state"] {
        let json = Self.run("log", command, path, "--json")
        let decoded = try? JSONDecoder()
          .decode([String: Ignored].self, from: Data(json.output.utf8))
        #expect(json.code == 0 && decoded?.isEmpty == false, "\(command): \(json)")
      }
      let page = path + ".html"
      #expect(Self.run("log", "report", path).output == "wrote \(page)\n")
      let written = Self.run("log", "report", path, "--json")
      let fields = try JSONDecoder().decode(Written.self, from: Data(written.output.utf8))
      #expect(fields.path == page && fields.events > 0, "\(written)")
      let html = try String(contentsOfFile: page, encoding: .utf8)
      #expect(html.hasPrefix("<!DOCTYPE html>") || html.hasPrefix("<!doctype html>"))
    }
  }

  @Test("A damaged log is an error with its line, and is salvaged when asked")
  func damagedLog() throws {
    try Self.withLog { path in
      var lines = try String(contentsOfFile: path, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
      lines[6] = lines[6].dropLast(7)
      try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
      let refused = Self.run("log", "verify", path)
      #expect(refused.code == 1 && refused.errors.contains("\(path):7: "), "\(refused)")
      let salvaged = Self.run("log", "show", path, "--salvage")
      #expect(salvaged.code == 0 && salvaged.errors.contains("line 7"), "\(salvaged)")
      #expect(Self.run("log", "verify", path, "--salvage").code == 1)
    }
  }

  @Test("A log that was changed or cut after it was written is not valid")
  func changedLog() throws {
    try Self.withLog { path in
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let lines = text.split(separator: "\n")
      let place = try #require(lines.lastIndex { $0.contains("\"kind\":\"input\"") })
      var changed = lines.map(String.init)
      changed[place] = changed[place].replacing("\"time\":1", with: "\"time\":2")
      #expect(changed[place] != lines[place])
      try (changed.joined(separator: "\n") + "\n")
        .write(toFile: path, atomically: true, encoding: .utf8)
      let refused = Self.run("log", "verify", path)
      let report = Self.run("log", "verify", path, "--json")
      #expect(report.code == 1 && report.output.contains("\"isValid\" : false"), "\(report)")
      #expect(refused.code == 1 && refused.output.contains("not those that were written"))

      let last = try #require(lines.lastIndex { $0.contains("\"kind\":\"event\"") })
      try (lines[..<last].joined(separator: "\n") + "\n")
        .write(toFile: path, atomically: true, encoding: .utf8)
      let cut = Self.run("log", "verify", path)
      #expect(cut.code == 1 && cut.output.contains("the end is missing"), "\(cut)")
      let accepted = Self.run("log", "verify", path, "--unfinished")
      #expect(accepted.code == 0 && accepted.output.hasPrefix("valid: "), "\(accepted)")
      #expect(Self.run("log", "verify", path, path).errors.contains("it is part 1, and so is"))
    }
  }
}

/// What a report is told to be.
private struct Written: Decodable {
  var path: String
  var events: Int
}

/// Any JSON value.
private struct Ignored: Decodable {
  init(from decoder: any Decoder) throws {}
}

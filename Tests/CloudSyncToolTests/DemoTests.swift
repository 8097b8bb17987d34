import CloudSyncCore
import CloudSyncEventLog
import CloudSyncTestSupport
import Testing

@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("cloudsync demo")
struct DemoTests {
  /// Runs the command in a folder that is removed afterwards.
  private func demo(
    _ arguments: [String],
    _ check: (_ code: Int32, _ output: String, _ folder: String) throws -> Void
  ) throws {
    let folder =
      TestPath.folder
      + "/cloudsync-demo-test-\(arguments.joined(separator: "-").filter { $0.isLetter || $0.isNumber })"
    try? FileManager.default.removeItem(atPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var output = ""
    let console = Console(output: { output += $0 }, errors: { output += $0 })
    let code = Tool.run(with: ["demo", "--keep", folder] + arguments, console: console)
    try check(code, output.replacing(folder, with: "FOLDER"), folder)
  }

  @Test(
    "Both devices and the cloud end with the same, whatever goes wrong",
    arguments: SuiteSize.some(1, of: [1, 2, 3, 4])
  )
  func converges(seed: Int) throws {
    let faults = "request-lost=1/4,response-lost=1/4,duplicated=1/4,late=1/5,zone-busy=1/6"
    try demo(["--seed", "\(seed)", "--faults", faults]) { code, output, _ in
      #expect(code == 0, "\(output)")
      #expect(output.contains("All three are equal: 1 row of lists, 3 rows of notes."))
    }
  }

  @Test("The story has the trouble that it promises, and leaves logs that tell it")
  func tellsTheStory() throws {
    try demo(["--faults", "none", "--verbose"]) { code, output, folder in
      #expect(code == 0)
      for words in [
        "the cloud limits the rate; retries in",
        "saved, response lost; retries the same request in",
        "sends the same modify request again", "conflict on milk: merges both edits",
        "finds the zone gone", "All three are equal: ",
        // The record of the zone's own is no row: milk is merged, and later what both have sent again.
        "conflict on the zone's own record", ", 0 conflicts; replayed", ", 6 conflicts; replayed",
      ] {
        #expect(output.contains(words), "\(words)")
      }
      // Who finds the zone gone begins anew with another session; the other finds another zone.
      for device in ["laptop", "phone", "phone-2"] {
        let log = try EventLog(path: "\(folder)/\(device).jsonl")
        #expect(log.hasEnded && log.mismatch == nil)
        #expect(output.contains("\(device).jsonl: \(log.count) events"))
        #expect(FileManager.default.fileExists(atPath: "\(folder)/\(device).html"))
      }
    }
  }

  @Test(
    "The story has at most 40 lines, opens with what comes and ends with the report",
    arguments: SuiteSize.some(1, of: [1, 2, 3])
  )
  func isShort(seed: Int) throws {
    var count = 0
    try demo(["--seed", "\(seed)"]) { code, output, _ in
      let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      count = lines.count
      #expect(code == 0 && count <= 40, "\(count) lines: \(output)")
      #expect(output.hasPrefix("Two devices keep the same notes"))
      #expect(lines.last == "Open the report in a browser: FOLDER/report.html")
      #expect(!output.contains("cloudsync_zone"))
    }
    try demo(["--seed", "\(seed)", "--verbose"]) { code, output, _ in
      #expect(code == 0 && output.split(separator: "\n").count > count)
      #expect(output.contains("sends a fetch request"))
    }
  }

  @Test(
    "Whatever goes wrong beside the story: plain words, at most 40 lines and 80 columns",
    arguments: SuiteSize.some(1, of: [11, 29, 33, 3, 12, 9, 10, 14, 31])
  )
  func isPlain(seed: Int) throws {
    let faults = "request-lost=1/4,response-lost=1/4,late=1/5,zone-busy=1/6"
    for more in [[], ["--verbose", "--faults", faults]] {
      try demo(["--seed", "\(seed)"] + more) { code, output, _ in
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(code == 0 && (lines.count <= 40 || !more.isEmpty), "\(lines.count): \(output)")
        for line in lines {
          let hasHump = zip(line.utf8, line.utf8.dropFirst())
            .contains { (97...122).contains($0) && (65...90).contains($1) }
          #expect(line.count <= 80 && !hasHump, "\(line)")
        }
      }
    }
  }

  @Test("The page that the end names has the story, and leads to the report of every session")
  func page() throws {
    try demo(["--seed", "2"]) { _, output, folder in
      let page = try String(contentsOfFile: "\(folder)/report.html", encoding: .utf8)
      for name in try FileManager.default.contentsOfDirectory(atPath: folder)
      where name.hasSuffix(".html") && name != "report.html" {
        #expect(page.contains("href=\"\(name)\""), "\(name)")
      }
      #expect(page.contains("phone-2.html"), "the phone has two sessions")
      let told = output.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.contains(" s  ") }
      #expect(told.count > 10)
      for line in told {
        let words = line.split(separator: " ").dropFirst(3).joined(separator: " ")
        #expect(page.contains("<td>\(words)"), "\(line)")
      }
    }
  }

  @Test("For scripts there is one JSON value, and nothing else on standard output")
  func json() throws {
    struct Result: Decodable {
      struct Device: Decodable {
        var device: String
        var requests: Int
      }
      struct Chapter: Decodable { var title: String }
      var isEqual: Bool
      var rows: [String: Int]
      var devices: [Device]
      var story: [Chapter]
      var report: String
    }
    try demo(["--json"]) { code, output, folder in
      let result = try JSONDecoder().decode(Result.self, from: Data(output.utf8))
      #expect(code == 0 && result.isEqual && result.rows == ["lists": 1, "notes": 3])
      #expect(result.devices.map(\.device) == ["laptop", "phone"])
      #expect(result.devices.allSatisfy { $0.requests > 10 } && result.story.count == 5)
      #expect(result.report == "FOLDER/report.html")
      #expect(FileManager.default.fileExists(atPath: "\(folder)/report.html"))
    }
  }

  @Test("The same seed tells the same story and leaves the same logs")
  func isDeterministic() throws {
    var first: (String, Data?) = ("", nil)
    try demo(["--seed", "7"]) { _, output, folder in
      first = (output, FileManager.default.contents(atPath: "\(folder)/phone.jsonl"))
    }
    try demo(["--seed", "7"]) { _, output, folder in
      #expect(output == first.0)
      #expect(FileManager.default.contents(atPath: "\(folder)/phone.jsonl") == first.1)
    }
    try demo(["--seed", "8"]) { _, output, _ in #expect(output != first.0) }
  }

  @Test(
    "A wrong call is one line with the usage below, and leaves nothing behind",
    arguments: [
      ["--seed", "x"], ["--faults", "frob"], ["--faults", "killed"], ["--faults", "late=3"], ["x"],
    ]
  )
  func refuses(arguments: [String]) throws {
    try demo(arguments) { code, output, folder in
      #expect(code == 2)
      #expect(output.split(separator: "\n").count == 2)
      #expect(output.contains("\nusage: cloudsync demo"))
      #expect(!FileManager.default.fileExists(atPath: folder))
    }
  }

  @Test("A folder that exists is left as it is")
  func keepsFolders() throws {
    try demo([]) { _, _, folder in
      var errors = ""
      let console = Console(output: { _ in }, errors: { errors += $0 })
      #expect(Tool.run(with: ["demo", "--keep", folder], console: console) == 1)
      #expect(errors.contains("name a new one"))
    }
  }

  @Test(
    "Commands are named as this reader can run them",
    arguments: [
      ("cloudsync", "/x", "cloudsync"), ("./cloudsync", "/x", "./cloudsync"),
      (".build/release/cloudsync", "/p", ".build/release/cloudsync"),
      (".build/x86_64/debug/cloudsync", "/p", "swift run cloudsync"),
      ("../.build/x86_64/debug/cloudsync", "/p/Sources", "swift run cloudsync"),
      ("../p/.build/x86_64/debug/cloudsync", "/q", "../p/.build/x86_64/debug/cloudsync"),
      ("/p/.build/x86_64/debug/cloudsync", "/p", "swift run cloudsync"),
      ("/p/.build/x86_64/release/cloudsync", "/p/Sources", "swift run -c release cloudsync"),
      ("/p/.build/x86_64/debug/cloudsync", "/pq", "/p/.build/x86_64/debug/cloudsync"),
    ]
  )
  func invocation(path: String, folder: String, name: String) {
    #expect(Invocation.name(of: path, in: folder) == name)
    var lines = ""
    let console = Console(program: name, output: { lines += $0 }, errors: { lines += $0 })
    console.line("see “cloudsync log why”")
    console.note("or “cloudsync status x.db”")
    #expect(lines == "see “\(name) log why”\ncloudsync: or “\(name) status x.db”\n")
  }
}

import CloudSyncTestSupport
import Testing

@testable import CloudSyncSimulator
@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("cloudsync simulate")
struct SimulateTests {
  private final class Lines {
    var output = ""
    var errors = ""
  }

  private static func run(_ arguments: String...) -> (code: Int32, output: String, errors: String) {
    let lines = Lines()
    let console = Console(output: { lines.output += $0 }, errors: { lines.errors += $0 })
    let code = Tool.run(with: ["simulate"] + arguments, console: console)
    return (code, lines.output, lines.errors)
  }

  /// Calls a function with a path in a folder of its own.
  private static func withPath(_ name: String, _ body: (String) throws -> Void) throws {
    let folder = URL(fileURLWithPath: TestPath.unique("simulate-\(name)"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appendingPathComponent("logs").path)
  }

  @Test("A small campaign is well, and says what it has tried")
  func campaign() {
    let (code, output, errors) = Self.run("--seeds", "6", "--edits", "20", "--jobs", "2")

    #expect(code == 0)
    #expect(errors.isEmpty)
    #expect(output.hasPrefix("6 seeds from 1 in "))
    #expect(output.contains("coverage: "))
    #expect(output.hasSuffix("passed: every rule held in every seed\n"))
  }

  @Test("Numbers and times are in words: one seed, minutes, and days only from one day on")
  func words() {
    let few = Self.run("--seeds", "1", "--edits", "5").output
    #expect(few.hasPrefix("1 seed from 1 in ") && !few.contains(" days"), "\(few)")
    let one = Self.run("--seed", "3", "--edits", "5").output
    #expect(one.contains(" s of simulated time") && !one.contains("seconds"), "\(one)")
    #expect(Duration.seconds(30).inWords == "30 s")
    #expect(Duration.milliseconds(1_194_031).inWords == "19 min 54 s")
    #expect(Duration.seconds(86_400 * 2 + 3_600).inWords == "2 d 1 h")
  }

  @Test("For scripts there is one JSON value, and nothing else on standard output")
  func json() throws {
    struct Result: Decodable {
      var isPassed: Bool
      var events: Int
      var seeds: Int?
      var seed: Int?
      var simulatedSeconds: Double
      var faults: [String: Int]
      var failures: [String]?
    }
    func result(_ output: String) throws -> Result {
      try JSONDecoder().decode(Result.self, from: Data(output.utf8))
    }
    let campaign = Self.run("--seeds", "2", "--edits", "10", "--json")
    let many = try result(campaign.output)
    #expect(campaign.code == 0 && campaign.errors.isEmpty, "\(campaign)")
    #expect(many.isPassed && many.seeds == 2 && many.failures == [] && many.seed == nil)
    #expect(many.events > 0 && many.simulatedSeconds > 0 && !many.faults.isEmpty)

    let single = Self.run("--seed", "7", "--edits", "10", "--json")
    let one = try result(single.output)
    #expect(single.code == 0 && single.errors.isEmpty, "\(single)")
    #expect(one.isPassed && one.seed == 7 && one.events > 0 && one.seeds == nil)
  }

  @Test("A seed that fails is in the result for scripts, with its rule and its command")
  func failure() throws {
    let violation = SimulationOutcome.Violation(
      rule: "no loss",
      text: "a note is lost",
      elapsed: .seconds(90)
    )
    #expect("\(violation)" == "a note is lost [no loss; after 1 min 30 s]")
    var tally = CampaignTally(from: 1, count: 2)
    (tally.done, tally.failed) = (2, 1)
    let report = CampaignReport(
      tally,
      from: 1,
      seconds: 2,
      failures: [
        .init(
          seed: 2,
          violation: ViolationReport(violation),
          command: "cloudsync simulate --seed 2"
        )
      ],
      missing: [],
      difference: nil
    )
    let text = try JSONText.block(for: report)
    for words in [
      "\"rule\" : \"no loss\"", "\"reason\" : \"a note is lost\"", "\"seconds\" : 90",
      "\"command\" : \"cloudsync simulate --seed 2\"", "\"isPassed\" : false", "\"failed\" : 1",
    ] { #expect(text.contains(words), "\(text)") }
  }

  @Test("A program that gives other logs, or none, is found out")
  func processes() throws {
    let options = SimulationOptions(seed: 3)
    let failing = try ProcessCheck(executable: "/bin/sh").difference(options: options)
    #expect(failing.isTried && failing.text?.contains("exit code") == true)

    let missing = ProcessCheck(executable: "/nowhere/cloudsync")
    #expect(throws: ToolError.self) { try missing.difference(options: options) }
    // These tests are run by another program than the tool.
    #expect(try ProcessCheck().difference(options: options).isTried == false)
  }

  @Test("One seed is run with its logs, which a later run does not overwrite")
  func single() throws {
    try Self.withPath("single") { path in
      let first = Self.run("--seed", "3", "--edits", "10", "--log-dir", path)
      #expect(first.code == 0)
      #expect(first.output.contains("logs: \(path)"))
      let names = try FileManager.default.contentsOfDirectory(atPath: path)
      #expect(names.contains("seed-3-device-0-process-1.jsonl"))

      let second = Self.run("--seed", "3", "--edits", "10", "--log-dir", path)
      #expect(second.code == 1)
      #expect(second.errors.contains("cannot be made"))
    }
  }

  @Test(
    "Bad input is one clear line",
    arguments: [
      (["--faults", "gremlins"], 2, "there is no fault “gremlins”"),
      (["--faults", "killed=2/1"], 2, "has no ratio like 1/20"),
      (["--seeds", "0"], 2, "from 1 to"),
      (["--devices", "1000000"], 2, "from 1 to 100"),
      (["--jobs", "0"], 2, "from 1 to 256"),
      (["--seed", "1", "--seeds", "5"], 2, "does not go with --seeds"),
      (["--edits", "many"], 2, "takes a whole number"),
      (["--seed", "1", "--log-dir", "/proc/no/such"], 1, "cannot be made"),
    ]
  )
  func badInput(arguments: [String], code: Int, text: String) {
    let lines = Lines()
    let console = Console(output: { lines.output += $0 }, errors: { lines.errors += $0 })
    let result = Tool.run(with: ["simulate"] + arguments, console: console)

    #expect(Int(result) == code)
    #expect(lines.output.isEmpty)
    #expect(lines.errors.contains(text))
    #expect(lines.errors.split(separator: "\n").count == (code == 2 ? 2 : 1))
  }
}

import CloudSyncSimulator

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `cloudsync simulate`: devices, a cloud and everything that can go wrong, seed after seed.
enum SimulateCommand {
  static var command: Command {
    Command(
      path: ["simulate"],
      summary: "Run whole simulations, one for each seed, and check that nothing is ever lost.",
      options: [
        .init(name: "--seeds", value: "N", help: "how many seeds; 1,000 by default"),
        .init(name: "--from", value: "S", help: "the first seed; 1 by default"),
        .init(name: "--minutes", value: "M", help: "run until the time is up"),
        .init(name: "--seed", value: "S", help: "run one seed, and keep its event logs"),
        .init(
          name: "--device",
          value: "KIND",
          help: "notes, sqlite for databases behind a sync engine, or history; notes by default",
          choices: SimulatedKind.allCases.map(\.rawValue)
        ),
        .init(name: "--devices", value: "D", help: "devices of each simulation; 3 by default"),
        .init(
          name: "--edits",
          value: "E",
          help: "edits of each simulation; 200 by default, 40 of databases"
        ),
        .init(name: "--records", value: "R", help: "records that the edits are of"),
        .init(
          name: "--faults",
          value: "LIST",
          help: "as in none, default, default,-killed or response-lost=1/20,late"
        ),
        .init(name: "--jobs", value: "J", help: "how many at a time; one for each core by default"),
        .init(name: "--log-dir", value: "DIR", help: "a new folder for the event logs"),
        .json,
      ],
      discussion: """
        Every 16th seed is run twice, its logs are compared byte for byte, and each is run again by
        itself. The first seed is run in another process too. A seed that fails is made smaller, and
        the command that repeats it is printed. The exit code is 1 if a seed failed, or if a thousand
        seeds have left out a fault.
        """,
      run: run
    )
  }

  /// What the command line asks for.
  struct Request: Sendable {
    var options: SimulationOptions
    /// How many seeds; nil for as many as the time allows.
    var count: UInt64?
    var minutes: UInt64?
    var jobs: Int
    var logFolder: String?
    var isSingle: Bool
    var isJSON: Bool
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let request = try request(from: arguments)
    let folder = try LogFolder(request.logFolder)
    if request.isSingle {
      return try SingleRun(request, logsTo: folder).run(console: console)
    }
    try CampaignRun(request, logsTo: folder).run(console: console)
  }

  static func request(from arguments: Arguments) throws -> Request {
    let seed = try arguments.number(of: "--seed")
    for name in ["--seeds", "--from", "--minutes", "--jobs"] where arguments.has(name) {
      if seed != nil { throw ToolError.usage("--seed runs one seed; it does not go with \(name)") }
    }
    var options = SimulationOptions(seed: seed ?? 0)
    options.seed = try seed ?? number("--from", in: 0...UInt64.max / 2, from: arguments) ?? 1
    if let name = arguments.value(of: "--device") {
      guard let kind = SimulatedKind(rawValue: name) else {
        let names = SimulatedKind.allCases.map(\.rawValue).joined(separator: ", ")
        throw ToolError.usage("--device: there is no kind “\(name)”; there are \(names)")
      }
      options.device = kind == .notes ? nil : kind.rawValue
    }
    options.devices = Int(try number("--devices", in: 1...100, from: arguments) ?? 3)
    options.edits = Int(
      try number("--edits", in: 0...1_000_000, from: arguments)
        ?? UInt64(SimulatedKind(options).usualEdits)
    )
    options.records = try number("--records", in: 1...100_000, from: arguments).map { Int($0) }
    if let list = arguments.value(of: "--faults") {
      do throws(FaultPlan.ParsingError) { options.faults = try FaultPlan(parsing: list) } catch {
        throw ToolError.usage("--faults: \(error)")
      }
    }
    let minutes = try number("--minutes", in: 1...100_000, from: arguments)
    let count = try number("--seeds", in: 1...1_000_000_000_000, from: arguments)
    let cores = UInt64(max(1, ProcessInfo.processInfo.activeProcessorCount))
    return Request(
      options: options,
      count: count ?? (minutes == nil ? 1_000 : nil),
      minutes: minutes,
      jobs: Int(try number("--jobs", in: 1...256, from: arguments) ?? min(256, cores)),
      logFolder: arguments.value(of: "--log-dir"),
      isSingle: seed != nil,
      isJSON: arguments.has("--json")
    )
  }

  private static func number(
    _ name: String,
    in range: ClosedRange<UInt64>,
    from arguments: Arguments
  ) throws -> UInt64? {
    guard let number = try arguments.number(of: name) else { return nil }
    guard range.contains(number) else {
      throw ToolError.usage(
        "\(name) takes a number from \(range.lowerBound) to \(range.upperBound), not \(number)"
      )
    }
    return number
  }
}

import CloudSyncSimulator

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `cloudsync demo`: the main job, for somebody who sees it for the first time.
enum DemoCommand {
  static var command: Command {
    Command(
      path: ["demo"],
      summary: "Two databases are edited offline, meet every kind of failure, and converge.",
      options: [
        .init(name: "--seed", value: "N", help: "what the failures are drawn from; 1 by default"),
        .init(
          name: "--faults",
          value: "LIST",
          help: "what else may fail, as in response-lost,late=1/10 or none; not with --server"
        ),
        .init(
          name: "--server",
          help: "sync through a server on this machine, by HTTP and in real time"
        ),
        .init(name: "--verbose", help: "tell every request and response"),
        .init(
          name: "--keep",
          value: "DIR",
          help: "a new folder for the databases, the cloud, the logs and the reports"
        ),
        .json,
      ],
      discussion: """
        The cloud is one file on this machine, time is simulated, and the same seed tells the same
        story. With --server two databases are edited at random, and connections break before and after
        the server has done its work; then no two runs are the same. Without --keep the files go into a
        temporary folder.
        """,
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let seed = try arguments.number(of: "--seed") ?? 1
    if arguments.has("--server") {
      if arguments.has("--faults") {
        throw ToolError.usage("--faults does not go with --server, whose network fails by itself")
      }
      let folder = try DemoFolder(arguments.value(of: "--keep"))
      return try ServerDemo(in: folder, seed: seed, isVerbose: arguments.has("--verbose"))
        .run(isJSON: arguments.has("--json"), console: console)
    }
    let plan = try plan(from: arguments.value(of: "--faults"))
    let folder = try DemoFolder(arguments.value(of: "--keep"))
    let (isJSON, isVerbose) = (arguments.has("--json"), arguments.has("--verbose"))
    let narration = isJSON ? console.quiet : console
    let story = try DemoStory(
      in: folder,
      seed: seed,
      plan: plan,
      isVerbose: isVerbose,
      narration
    )
    narration.line(
      HelpText.wrapped(
        "Two devices keep the same notes, each in a SQLite database, and sync them through a cloud in a"
          + " file. They go offline, get rate limited, lose a response, have a conflict, and the cloud loses"
          + " everything. In the end all three have the same rows. Time is simulated."
      )
    )
    try story.tell()
    let result = try DemoResult(story, in: folder)
    result.show(isVerbose: isVerbose, console: narration)
    if isJSON { console.line(try JSONText.block(for: result.report)) }
    try result.check(console: console)
  }

  private static func plan(from text: String?) throws -> FaultPlan {
    let plan: FaultPlan
    do throws(FaultPlan.ParsingError) {
      plan = try FaultPlan(parsing: text ?? "request-lost=1/12")
    } catch { throw ToolError.usage("--faults: \(error)") }
    // These change more than a request, and the story says how that goes.
    let others = plan.points.filter { !$0.isOfHandler || $0.isOfWorld || $0 == .refusal }
    if let other = others.first {
      throw ToolError.usage(
        "--faults: “\(other.rawValue)” is for “cloudsync simulate”; the demo takes faults of requests"
      )
    }
    return plan
  }
}

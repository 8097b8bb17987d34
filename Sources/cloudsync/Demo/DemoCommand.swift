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
      summary: "Let two databases be edited offline, meet trouble, and end with the same rows.",
      options: [
        .init(name: "--seed", value: "N", help: "what the trouble is drawn from; 1 by default"),
        .init(
          name: "--faults",
          value: "LIST",
          help: "what may go wrong besides the story, as in answer-lost,late=1/10 or none"
        ),
        .init(
          name: "--server",
          help:
            "go through a server on this machine, by HTTP and in real time, and meet random faults"
        ),
        .init(
          name: "--keep",
          value: "DIR",
          help: "a new folder for the databases, the cloud, the logs and the reports"
        ),
      ],
      discussion: """
        The cloud is one file on this machine, time is simulated, and the same seed tells the same
        story. With --server two databases are edited at random, and connections break, before and after
        the server has done what it was asked for; the story is not the same twice then. Without --keep the files go into a folder of the system's for such things.
        """,
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    let seed = try arguments.number(of: "--seed") ?? 1
    if arguments.has("--server") {
      if arguments.has("--faults") { throw ToolError.usage("--faults does not go with --server") }
      let folder = try DemoFolder(arguments.value(of: "--keep"))
      return try ServerDemo(in: folder, seed: seed).run(console: console)
    }
    let plan = try plan(from: arguments.value(of: "--faults"))
    let folder = try DemoFolder(arguments.value(of: "--keep"))
    let story = try DemoStory(in: folder, seed: seed, plan: plan, console)
    try story.tell()
    try DemoResult(story, in: folder).show(console: console)
  }

  private static func plan(from text: String?) throws -> FaultPlan {
    let plan: FaultPlan
    do throws(FaultPlan.ParsingError) {
      plan = try FaultPlan(parsing: text ?? "late=1/12,request-lost=1/12,zone-busy=1/20")
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

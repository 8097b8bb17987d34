import CloudSyncSimulator

/// One simulation, with its event logs.
struct SingleRun {
  private let options: SimulationOptions
  private let folder: LogFolder

  init(_ options: SimulationOptions, logsTo folder: LogFolder) {
    self.options = options
    self.folder = folder
  }

  func run(console: Console) throws {
    let outcome = options.runTwice()
    console.line(
      "seed \(options.seed): \(outcome.eventCount) events, \(outcome.requestCount) requests, "
        + "\(outcome.elapsed) of simulated time"
    )
    let tried = FaultPoint.allCases.filter { outcome.coverage[$0] > 0 }
      .map { "\($0.rawValue) \(outcome.coverage[$0])" }
    if !tried.isEmpty { console.line("faults: \(tried.joined(separator: ", "))") }
    if folder.isWanted || outcome.violation != nil {
      console.line("logs: \(try folder.write(outcome))")
    }
    guard let violation = outcome.violation else {
      return console.line(
        "\(console.styled("passed", as: .good)): every rule held, twice the same way"
      )
    }
    console.line(console.styled("\(violation)", as: .bad))
    throw ToolError.negative
  }
}

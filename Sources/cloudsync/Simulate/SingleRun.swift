import CloudSyncCore
import CloudSyncSimulator

/// One simulation, with its event logs.
struct SingleRun {
  private let request: SimulateCommand.Request
  private let folder: LogFolder

  init(_ request: SimulateCommand.Request, logsTo folder: LogFolder) {
    self.request = request
    self.folder = folder
  }

  func run(console: Console) throws {
    let outcome = request.options.runTwice()
    let logs =
      folder.isWanted || outcome.violation != nil ? try folder.write(outcome) : nil
    if request.isJSON {
      console.line(try JSONText.block(for: SingleReport(outcome, logs: logs)))
    } else {
      show(outcome, logs: logs, console: console)
    }
    if outcome.violation != nil { throw ToolError.negative }
  }

  private func show(_ outcome: SimulationOutcome, logs: String?, console: Console) {
    console.line(
      "seed \(outcome.options.seed): \(Phrase.count(outcome.eventCount, "event")),"
        + " \(Phrase.count(outcome.requestCount, "request")),"
        + " \(outcome.elapsed.inWords) of simulated time"
    )
    if let line = outcome.coverage.faultLine { console.line(line) }
    if let logs { console.line("logs: \(logs)") }
    guard let violation = outcome.violation else {
      return console.line(
        "\(console.styled("passed", as: .good)): every rule held, twice the same way"
      )
    }
    console.line(console.styled("\(violation)", as: .bad))
  }
}

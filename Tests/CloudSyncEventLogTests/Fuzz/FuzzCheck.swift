import CloudSyncCore
import CloudSyncEventLog
import CloudSyncTestSupport

/// Does with a log whatever a tool does, and says what went wrong that must not.
enum FuzzCheck {
  /// What became of a log.
  struct Outcome {
    var isOpen = false
    var salvagedEvents = 0
    var complaints: [String] = []
  }

  static func check(_ bytes: [UInt8], _ random: inout SplitMix64) -> Outcome {
    var outcome = Outcome()
    let strict = open(bytes, salvaging: false, &outcome)
    let salvaged = open(bytes, salvaging: true, &outcome)
    if let strict {
      outcome.isOpen = true
      exercise(strict, &outcome, &random)
      if salvaged?.count != strict.count || salvaged?.warnings != strict.warnings {
        outcome.complaints.append("salvaging changes a sound log")
      }
    }
    if let salvaged {
      outcome.salvagedEvents = salvaged.count
      if strict == nil { exercise(salvaged, &outcome, &random) }
    } else if !bytes.isEmpty {
      outcome.complaints.append("salvaging refuses a log")
    }
    return outcome
  }

  private static func open(
    _ bytes: [UInt8],
    salvaging: Bool,
    _ outcome: inout Outcome
  ) -> EventLog? {
    do throws(LogError) {
      return try EventLog(bytes: bytes, salvaging: salvaging)
    } catch {
      if error.line == 0, error.code != .empty { outcome.complaints.append("no line: \(error)") }
      if error.reason.isEmpty { outcome.complaints.append("no reason: \(error.code)") }
      return nil
    }
  }

  private static func exercise(
    _ log: EventLog,
    _ outcome: inout Outcome,
    _ random: inout SplitMix64
  ) {
    do throws(LogError) {
      var count = 0
      var last: UInt64 = 0
      try log.forEachStep { (step) throws(LogError) in
        count += 1
        if step.sequence <= last { outcome.complaints.append("\(step.sequence) after \(last)") }
        last = step.sequence
        return true
      }
      if count != log.count { outcome.complaints.append("\(count) steps of \(log.count)") }
      for _ in 0..<3 where log.count > 0 {
        let wanted = random.chance(1, in: 3) ? log.lastFoldedSequence : last
        if try log.step(last).sequence != last { outcome.complaints.append("another step") }
        _ = try log.state(at: wanted)
      }
    } catch {
      if error.code != .noState, error.code != .noSuchEvent {
        outcome.complaints.append("after opening: \(error)")
      }
    }
    rerun(log, &outcome)
  }

  private static func rerun(_ log: EventLog, _ outcome: inout Outcome) {
    var options = Replay.Options()
    options.goesOn = true
    options.divergenceLimit = 10
    do throws(LogError) {
      let result = try Replay.rerun(log, options: options)
      for divergence in result.divergences where "\(divergence)".isEmpty {
        outcome.complaints.append("a divergence without words")
      }
    } catch {
      let expected: [LogError.Code] = [.unknownMiddleware, .noState, .noSuchEvent]
      if !expected.contains(error.code) { outcome.complaints.append("re-run: \(error)") }
    }
  }
}

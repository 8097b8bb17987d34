import CloudSyncCore

extension LogStatistics {
  /// Everything in lines of text; what there is none of is left out.
  public func render() -> String {
    var lines: [String] = []
    func add(_ title: String, _ text: String) {
      guard !text.isEmpty else { return }
      lines.append(title.padded(to: 18) + text)
    }
    add("events", "\(eventCount)")
    if byteCount > 0 { add("size", "\(byteCount) bytes") }
    if let firstTime, let lastTime {
      let length = TimeText.length(firstTime.distance(to: lastTime))
      add("time", "\(TimeText.date(firstTime)) to \(TimeText.date(lastTime)) (\(length))")
    }
    add("kinds", Self.text(kinds))
    add("origins", Self.text(origins))
    add("requests", Self.text(requests))
    add("retries", Self.text(retries))
    add("errors", Self.text(errors))
    add("errors of records", Self.text(itemErrors))
    add("verdicts", Self.text(verdicts))
    add("halts", Self.text(halts))
    let numbers = [
      ("splits", splits), ("conflicts", conflicts), ("lost answers", lostAnswers),
      ("ignored answers", ignoredAnswers), ("records saved", savedRecords),
      ("records deleted", deletedRecords), ("records parked", parkedRecords),
      ("records fetched", fetchedRecords), ("pages fetched", fetchedPages),
    ]
    for (title, number) in numbers where number > 0 { add(title, "\(number)") }
    let shares = times.map { "\($0.activity.rawValue) \(TimeText.length($0.nanoseconds))" }
    add("time in", shares.joined(separator: ", "))
    add("modifications", modifications.text)
    add("fetches", fetches.text)
    add("failed operations", Self.text(failedOperations))
    if openOperations > 0 { add("open operations", "\(openOperations)") }
    return lines.joined(separator: "\n")
  }

  private static func text(_ counts: [Count]) -> String {
    counts.map { "\($0.name) \($0.count)" }.joined(separator: ", ")
  }
}

extension LogStatistics.Durations {
  fileprivate var text: String {
    guard let median, let percentile95, let maximum else { return "" }
    return "\(count) ended; median \(TimeText.length(median)), "
      + "95th percentile \(TimeText.length(percentile95)), maximum \(TimeText.length(maximum))"
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(1, width - count))
  }
}

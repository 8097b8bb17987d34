import CloudSyncCore

extension LogStatistics {
  /// Everything in lines of text; what there is none of is left out.
  public func render() -> String {
    var lines: [String] = []
    func add(title: String, text: String) {
      guard !text.isEmpty else { return }
      lines.append(title.padded(to: 18) + text)
    }
    add(title: "events", text: "\(eventCount)")
    if byteCount > 0 { add(title: "size", text: "\(byteCount) bytes") }
    if let firstTime, let lastTime {
      let length = TimeText.length(firstTime.distance(to: lastTime))
      add(
        title: "time",
        text: "\(TimeText.date(firstTime)) to \(TimeText.date(lastTime)) (\(length))"
      )
    }
    add(title: "kinds", text: Self.text(of: kinds))
    add(title: "origins", text: Self.text(of: origins))
    add(title: "requests", text: Self.text(of: requests))
    add(title: "retries", text: Self.text(of: retries))
    add(title: "errors", text: Self.text(of: errors))
    add(title: "errors of records", text: Self.text(of: itemErrors))
    add(title: "verdicts", text: Self.text(of: verdicts))
    add(title: "halts", text: Self.text(of: halts))
    let numbers = [
      ("splits", splits), ("conflicts", conflicts), ("lost responses", lostResponses),
      ("ignored responses", ignoredAnswers), ("records saved", savedRecords),
      ("records deleted", deletedRecords), ("records parked", parkedRecords),
      ("records fetched", fetchedRecords), ("pages fetched", fetchedPages),
    ]
    for (title, number) in numbers where number > 0 { add(title: title, text: "\(number)") }
    let shares = times.map { "\($0.activity.rawValue) \(TimeText.length($0.nanoseconds))" }
    add(title: "time in", text: shares.joined(separator: ", "))
    add(title: "modifications", text: modifications.text)
    add(title: "fetches", text: fetches.text)
    add(title: "failed operations", text: Self.text(of: failedOperations))
    if openOperations > 0 { add(title: "open operations", text: "\(openOperations)") }
    return lines.joined(separator: "\n")
  }

  private static func text(of counts: [Count]) -> String {
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

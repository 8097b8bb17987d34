import CloudSyncSession

/// One line of the table: what was measured, against which target.
struct Measurement {
  var name: String
  var target: String
  var figure: String
  var isReached: Bool
}

/// The table of figures.
final class Table: @unchecked Sendable {
  // It is unchecked because only the main program uses it.
  private var lines: [Measurement] = []

  func add(_ line: Measurement) {
    lines.append(line)
    print("\(line.isReached ? "✔" : "✘") \(line.name): \(line.figure) (target: \(line.target))")
  }

  /// Prints the lines as a Markdown table.
  func printMarkdown() {
    print("\n| what | target | measured | |\n| --- | --- | --- | --- |")
    for line in lines {
      print("| \(line.name) | \(line.target) | \(line.figure) | \(line.isReached ? "✔" : "✘") |")
    }
  }
}

/// Takes times: several runs, of which the median counts.
struct Stopwatch {
  var runs = 7

  /// The median of the nanoseconds that a body takes; each run gets a fresh input.
  func median<Input>(
    of make: () -> Input,
    _ body: (Input) -> Void
  ) -> Double {
    var times: [Double] = []
    for run in 0...runs {
      let input = make()
      let clock = ContinuousClock()
      let start = clock.now
      body(input)
      // The first run warms up.
      if run > 0 { times.append((clock.now - start).nanoseconds) }
    }
    return times.sorted()[times.count / 2]
  }
}

extension Duration {
  var nanoseconds: Double {
    Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
  }
}

extension Double {
  /// The number with so many digits after the point.
  func rounded(_ digits: Int) -> String {
    var factor = 1.0
    for _ in 0..<digits { factor *= 10 }
    let value = (self * factor).rounded() / factor
    return digits == 0 ? "\(Int(value))" : "\(value)"
  }

  /// A count a second, grouped by thousands.
  var grouped: String {
    var text = "\(Int(self))"
    var index = text.endIndex
    while let next = text.index(index, offsetBy: -3, limitedBy: text.startIndex),
      next > text.startIndex
    {
      text.insert(",", at: next)
      index = next
    }
    return text
  }
}

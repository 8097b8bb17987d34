import CloudSyncCore

/// What was added to a counter: a whole number as long as only such are added; it is finite.
enum CounterSum: Sendable, Hashable {
  case whole(Int64)
  case real(Double)

  static let zero = CounterSum.whole(0)

  /// A column's number; nil for NULL, and for what is no number.
  init?(_ value: FieldValue) {
    switch value {
    case .int64(let number): self = .whole(number)
    case .double(let number) where number.isFinite: self = .real(number == 0 ? 0 : number)
    default: return nil
    }
  }

  /// As a column holds it.
  var fieldValue: FieldValue {
    switch self {
    case .whole(let number): .int64(number)
    case .real(let number): .double(number)
    }
  }

  var real: Double {
    switch self {
    case .whole(let number): Double(number)
    case .real(let number): number
    }
  }

  /// The difference of two numbers, which stops at the ends of their range.
  static func - (lhs: Self, rhs: Self) -> Self { zero.adding(from: rhs, to: lhs) }

  /// What somebody has added in all who has added this before, and has a counter go from one number to another; it stops at
  /// the ends of the range, and what is between does not.
  func adding(from former: Self, to number: Self) -> Self {
    guard case .whole(let own) = self, case .whole(let start) = former,
      case .whole(let end) = number
    else {
      return Self.total(of: [self, .real(finite: number.real - former.real)])
    }
    var sum = WideSum()
    sum.add(own)
    sum.add(end)
    sum.subtract(start)
    return .whole(sum.clamped)
  }

  /// What comes to nothing with the sum of several: a real number where no whole one is.
  static func opposite(of sums: [CounterSum]) -> CounterSum {
    var opposite = WideSum()
    for sum in sums {
      guard case .whole(let number) = sum else { return .real(-total(of: sums).real) }
      opposite.subtract(number)
    }
    return opposite.whole.map { .whole($0) } ?? .real(opposite.real)
  }

  /// The sum of several, which stops at the ends of the range; whole ones are brought into range in the end only, so that their order is no
  /// matter, and of reals it is the given one.
  static func total(of sums: some Sequence<CounterSum>) -> CounterSum {
    var whole = WideSum()
    var real: Double?
    for sum in sums {
      switch sum {
      case .whole(let number): whole.add(number)
      case .real(let number): real = (real ?? 0) + number
      }
    }
    return real.map { .real(finite: whole.real + $0) } ?? .whole(whole.clamped)
  }

  /// A real number, or the end of the range that it is beyond: what is infinite would be no sum any more.
  private static func real(finite number: Double) -> Self {
    let end = Double.greatestFiniteMagnitude
    return .real(min(max(number, -end), end))
  }

  /// Two sums are the same if their bits are.
  static func == (lhs: Self, rhs: Self) -> Bool {
    switch (lhs, rhs) {
    case (.whole(let lhs), .whole(let rhs)): lhs == rhs
    case (.real(let lhs), .real(let rhs)): lhs.bitPattern == rhs.bitPattern
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .whole(let number): hasher.combine(number)
    case .real(let number): hasher.combine(number.bitPattern)
    }
  }
}

/// A sum of 64-bit numbers that does not overflow.
private struct WideSum {
  private var low: Int64 = 0
  /// How many times 2⁶⁴ is to be added.
  private var turns = 0

  mutating func add(_ number: Int64) {
    let (sum, isOut) = low.addingReportingOverflow(number)
    if isOut { turns += number < 0 ? -1 : 1 }
    low = sum
  }

  mutating func subtract(_ number: Int64) {
    let (sum, isOut) = low.subtractingReportingOverflow(number)
    if isOut { turns += number < 0 ? 1 : -1 }
    low = sum
  }

  /// The sum, if 64 bits hold it.
  var whole: Int64? { turns == 0 ? low : nil }
  var clamped: Int64 { turns == 0 ? low : turns > 0 ? .max : .min }
  var real: Double { Double(low) + Double(turns) * 0x1p64 }
}

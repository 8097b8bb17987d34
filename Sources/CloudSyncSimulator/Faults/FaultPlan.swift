/// How often each thing goes wrong: whole numbers, so that a plan means the same everywhere.
///
/// ```swift
/// var plan = FaultPlan.none
/// plan[.responseLost] = FaultPlan.Ratio(1, in: 20)
/// let same = try FaultPlan(parsing: "response-lost=1/20")
/// ```
public struct FaultPlan: Sendable, Hashable {
  /// So many of so many cases.
  public struct Ratio: Sendable, Hashable {
    /// How many cases go wrong; 0 for none.
    public let hits: Int
    /// Of how many, at least 1.
    public let cases: Int

    /// Creates a ratio.
    public init(_ hits: Int, in cases: Int) {
      precondition(
        cases > 0 && hits >= 0 && hits <= cases,
        "A ratio is at most 1: give 0 to \(cases) hits in at least one case."
      )
      self.hits = hits
      self.cases = cases
    }

    /// Never.
    public static let zero = Ratio(0, in: 1)
  }

  /// By the place of the point in `FaultPoint.allCases`.
  private var ratios: [Ratio]

  /// How long a request and its response are on their way each, at most, in milliseconds.
  ///
  /// Below 1,000, so that nothing of an ended process arrives after the next one has begun.
  public var latency = 200

  private init() { ratios = FaultPoint.allCases.map { _ in .zero } }

  /// Nothing goes wrong.
  public static let none = FaultPlan()

  /// Everything goes wrong now and then.
  public static let `default`: FaultPlan = {
    var plan = FaultPlan()
    for point in FaultPoint.allCases { plan[point] = point.usualRatio }
    return plan
  }()

  /// How often something goes wrong.
  public subscript(point: FaultPoint) -> Ratio {
    get { ratios[Self.place(of: point)] }
    set { ratios[Self.place(of: point)] = newValue }
  }

  /// What goes wrong at all, in the order of `FaultPoint.allCases`.
  public var points: [FaultPoint] { FaultPoint.allCases.filter { self[$0].hits > 0 } }

  /// The plan without one thing that goes wrong.
  public func without(_ point: FaultPoint) -> FaultPlan {
    var plan = self
    plan[point] = .zero
    return plan
  }

  static func place(of point: FaultPoint) -> Int { point.place }
}

extension FaultPoint {
  /// The place in `allCases`, in constant time.
  var place: Int {
    switch self {
    case .requestLost: 0
    case .responseLost: 1
    case .duplicated: 2
    case .late: 3
    case .never: 4
    case .outOfOrder: 5
    case .throttle: 6
    case .throttleSilently: 7
    case .zoneBusy: 8
    case .serviceUnavailable: 9
    case .limitExceeded: 10
    case .assetMissing: 11
    case .refusal: 12
    case .tokenExpired: 13
    case .zoneDeleted: 14
    case .zonePurged: 15
    case .zoneReset: 16
    case .signedOut: 17
    case .accountSwitched: 18
    case .accountUnavailable: 19
    case .quotaFull: 20
    case .clockSkew: 21
    case .killed: 22
    case .stalled: 23
    case .offline: 24
    case .killedWriting: 25
    case .writeFails: 26
    case .recordRefused: 27
    case .recordUnanswered: 28
    case .clockStep: 29
    case .dirtyTail: 30
    case .clockYears: 31
    case .migrated: 32
    case .fewerTables: 33
    case .otherProcess: 34
    case .fileCopied: 35
    case .zoneErased: 36
    case .keyChanged: 37
    case .keyRespelled: 38
    case .valueMoved: 39
    case .recordRemoved: 40
    case .recordDenied: 41
    case .otherEngine: 42
    case .storeRestored: 43
    case .keyGiven: 44
    case .rowsFiltered: 45
    case .triggersMade: 46
    }
  }

  /// How often it goes wrong in the default plan, and where a list names it without a ratio.
  public var usualRatio: FaultPlan.Ratio {
    switch self {
    case .requestLost, .responseLost: FaultPlan.Ratio(1, in: 25)
    case .duplicated, .late: FaultPlan.Ratio(1, in: 40)
    case .never, .outOfOrder: FaultPlan.Ratio(1, in: 100)
    case .throttle: FaultPlan.Ratio(1, in: 40)
    case .throttleSilently, .zoneBusy, .serviceUnavailable: FaultPlan.Ratio(1, in: 60)
    case .limitExceeded: FaultPlan.Ratio(1, in: 25)
    case .assetMissing: FaultPlan.Ratio(1, in: 80)
    case .refusal: FaultPlan.Ratio(1, in: 300)
    case .tokenExpired: FaultPlan.Ratio(1, in: 150)
    case .zoneDeleted, .zonePurged, .zoneReset: FaultPlan.Ratio(1, in: 800)
    case .signedOut, .accountSwitched, .accountUnavailable, .quotaFull: FaultPlan.Ratio(1, in: 500)
    case .clockSkew: FaultPlan.Ratio(1, in: 2)
    case .killed: FaultPlan.Ratio(1, in: 600)
    case .stalled, .offline: FaultPlan.Ratio(1, in: 40)
    case .killedWriting: FaultPlan.Ratio(1, in: 400)
    case .writeFails: FaultPlan.Ratio(1, in: 800)
    case .recordRefused: FaultPlan.Ratio(1, in: 100)
    case .recordUnanswered: FaultPlan.Ratio(1, in: 400)
    case .clockStep: FaultPlan.Ratio(1, in: 300)
    case .dirtyTail: FaultPlan.Ratio(1, in: 2)
    case .clockYears: FaultPlan.Ratio(1, in: 12)
    case .migrated: FaultPlan.Ratio(1, in: 3)
    case .fewerTables: FaultPlan.Ratio(1, in: 10)
    case .otherProcess: FaultPlan.Ratio(1, in: 8)
    case .fileCopied: FaultPlan.Ratio(1, in: 8)
    case .zoneErased: FaultPlan.Ratio(1, in: 2)
    case .keyChanged, .keyRespelled, .valueMoved, .keyGiven: FaultPlan.Ratio(1, in: 12)
    case .recordRemoved: FaultPlan.Ratio(1, in: 100)
    case .recordDenied: FaultPlan.Ratio(1, in: 60)
    case .otherEngine: FaultPlan.Ratio(1, in: 20)
    case .storeRestored: FaultPlan.Ratio(1, in: 300)
    case .rowsFiltered: FaultPlan.Ratio(1, in: 8)
    case .triggersMade: FaultPlan.Ratio(1, in: 2)
    }
  }
}

// MARK: - Text

extension FaultPlan: CustomStringConvertible {
  /// What is wrong with a list of faults, in one line.
  public struct ParsingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line.
    public let description: String
  }

  /// Reads a list as the tool takes it.
  ///
  /// - Parameter text: Names separated by commas, each with a ratio if not the usual one is meant:
  ///   `response-lost=1/20,killed`. `none` is nothing, `default` everything; what follows is added, and
  ///   a name with `-` before it is taken out: `default,-killed`.
  /// - Throws: What is wrong, with the names that there are.
  public init(parsing text: String) throws(ParsingError) {
    self.init()
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(words[0])
      if index == 0, words.count == 1, name == "none" || name == "default" {
        if name == "default" { self = .default }
        continue
      }
      let isOut = name.hasPrefix("-")
      let point = try Self.point(name: isOut ? String(name.dropFirst()) : name)
      if words.count == 2, !isOut {
        self[point] = try Self.ratio(text: String(words[1]), of: name)
      } else {
        self[point] = isOut ? .zero : point.usualRatio
      }
    }
  }

  private static func point(name: String) throws(ParsingError) -> FaultPoint {
    guard let point = FaultPoint(rawValue: name) else {
      let names = FaultPoint.allCases.map(\.rawValue).joined(separator: ", ")
      throw ParsingError(description: "there is no fault “\(name)”; there are \(names)")
    }
    return point
  }

  private static func ratio(text: String, of name: String) throws(ParsingError) -> Ratio {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 2, let hits = numbers[0], let cases = numbers[1], hits >= 0, cases > 0,
      hits <= cases, cases <= 1_000_000_000
    else {
      throw ParsingError(description: "“\(name)=\(text)” has no ratio like 1/20")
    }
    return Ratio(hits, in: cases)
  }

  /// The list from which the plan can be read again.
  public var description: String {
    if points.isEmpty { return "none" }
    if ratios == Self.default.ratios { return "default" }
    let named = points.map { point in
      self[point] == point.usualRatio
        ? point.rawValue : "\(point.rawValue)=\(self[point].hits)/\(self[point].cases)"
    }
    let missing = FaultPoint.allCases.filter { self[$0].hits == 0 }
    let isDefaultOtherwise = points.allSatisfy { self[$0] == $0.usualRatio }
    if isDefaultOtherwise, missing.count < points.count {
      return "default" + missing.map { ",-\($0.rawValue)" }.joined()
    }
    return named.joined(separator: ",")
  }
}

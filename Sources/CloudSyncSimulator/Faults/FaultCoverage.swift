public import CloudSyncCore

/// How often each kind of work was given each response, by what went wrong: what a campaign has tried.
public struct FaultCoverage: Sendable, Hashable {
  /// One cell of the table.
  public struct Cell: Sendable, Hashable, CustomStringConvertible {
    /// The kind of work.
    public var mode: OperationMode
    /// The code of the response; nil for a success.
    public var code: SyncError.Code?
    /// What went wrong; nil for a request without a fault.
    public var point: FaultPoint?

    /// Creates the name of a cell.
    public init(mode: OperationMode, code: SyncError.Code?, point: FaultPoint?) {
      self.mode = mode
      self.code = code
      self.point = point
    }

    /// The three in one line.
    public var description: String {
      "\(mode) × \(code.map { "\($0)" } ?? "success") × \(point?.rawValue ?? "no fault")"
    }
  }

  /// Codes 1 to 37, a success before them, everything else after them.
  private static let codeCount = 39
  private static let pointCount = FaultPoint.allCases.count + 1

  private var counts: [Int]
  /// How often each thing happened at all.
  private var hits: [Int]

  /// Creates an empty table.
  public init() {
    counts = Array(repeating: 0, count: 4 * Self.codeCount * Self.pointCount)
    hits = Array(repeating: 0, count: Self.pointCount)
  }

  /// How often the response was given.
  public subscript(cell: Cell) -> Int { counts[Self.index(of: cell)] }

  /// How often something went wrong.
  public subscript(point: FaultPoint) -> Int { hits[point.place] }

  /// Counts a response.
  public mutating func count(_ cell: Cell) { counts[Self.index(of: cell)] += 1 }

  /// Counts that something went wrong.
  public mutating func count(_ point: FaultPoint) { hits[point.place] += 1 }

  /// Adds what another run has tried.
  public mutating func add(_ other: FaultCoverage) {
    for index in counts.indices where other.counts[index] > 0 {
      counts[index] += other.counts[index]
    }
    for index in hits.indices { hits[index] += other.hits[index] }
  }

  /// The cells that were hit, in order, with their counts.
  public var cells: [(cell: Cell, count: Int)] {
    counts.indices.compactMap { index in
      counts[index] > 0 ? (Self.cell(index: index), counts[index]) : nil
    }
  }

  private static func index(of cell: Cell) -> Int {
    let number = cell.code?.rawValue ?? 0
    let code = (0...37).contains(number) ? number : 38
    let point = cell.point?.place ?? pointCount - 1
    return (cell.mode.rawValue * codeCount + code) * pointCount + point
  }

  private static func cell(index: Int) -> Cell {
    let point = index % pointCount
    let code = index / pointCount % codeCount
    return Cell(
      mode: OperationMode(rawValue: index / pointCount / codeCount) ?? .createZone,
      code: code == 0 ? nil : SyncError.Code(rawValue: code == 38 ? 0 : code),
      point: point == pointCount - 1 ? nil : FaultPoint.allCases[point]
    )
  }
}

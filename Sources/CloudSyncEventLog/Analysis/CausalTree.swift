import CloudSyncCore

/// Why an event happened, and what followed from it: ``CausalTree/render()`` shows it.
///
/// Each event names the event that caused it. From there the causes lead to the input at the root,
/// and the other way to everything that would not have happened without the event.
///
/// ```swift
/// print(try CausalTree(of: 1_234, in: log).render())
/// ```
public struct CausalTree: Sendable, Hashable, Codable {
  /// One event of the tree.
  public struct Node: Sendable, Hashable, Codable {
    /// The number of the event.
    public let sequence: UInt64
    /// The number of the event that caused it.
    public let cause: UInt64?
    /// The numbers of the events that it caused, ascending; those that were left out are not there.
    public internal(set) var children: [UInt64] = []
    /// The event in one line.
    public let text: String
  }

  /// The event that was asked about.
  public let sequence: UInt64
  /// The causes: from the root, as far as the log has it, to the event itself.
  public let chain: [Node]
  /// The event and everything that followed from it, ascending.
  public let nodes: [Node]
  /// Whether the first event of the chain has no cause: it is what came in from outside.
  ///
  /// It is false if the cause happened before the log began, or was left out.
  public let hasRoot: Bool
  /// Whether events that followed were left out, because there are more than were wanted.
  public let isCut: Bool

  /// Asks about an event.
  ///
  /// - Parameters:
  ///   - sequence: The number of the event.
  ///   - log: The log.
  ///   - limit: How many causes, and how many events that followed, are looked for at most.
  /// - Throws: An error if the log does not have the event, or cannot be read.
  /// - Complexity: O(*n*) in the number of events after it, as long as the limit is not reached.
  public init(of sequence: UInt64, in log: EventLog, limit: Int = 1_000) throws(LogError) {
    precondition(limit > 0, "A tree has at least the event itself: give a larger limit.")
    self.sequence = sequence
    let start = log.header.time
    var chain = [Node(try log.step(sequence), start)]
    while let cause = chain[chain.count - 1].cause, chain.count < limit,
      cause < chain[chain.count - 1].sequence, cause >= log.firstSequence ?? 0
    {
      chain.append(Node(try log.step(cause), start))
      chain[chain.count - 1].children = [chain[chain.count - 2].sequence]
    }
    hasRoot = chain[chain.count - 1].cause == nil
    self.chain = chain.reversed()
    (nodes, isCut) = try Self.descendants(of: sequence, in: log, limit: limit)
  }

  private static func descendants(
    of sequence: UInt64,
    in log: EventLog,
    limit: Int
  ) throws(LogError) -> ([Node], isCut: Bool) {
    var nodes: [Node] = []
    var places: [UInt64: Int] = [:]
    var isCut = false
    try log.forEachStep(in: sequence...UInt64.max) { step in
      let parent = step.record.cause.flatMap { places[$0] }
      guard step.sequence == sequence || parent != nil else { return true }
      guard nodes.count < limit else {
        isCut = true
        return false
      }
      if let parent { nodes[parent].children.append(step.sequence) }
      places[step.sequence] = nodes.count
      nodes.append(Node(step, log.header.time))
      return true
    }
    return (nodes, isCut)
  }
}

extension CausalTree.Node {
  fileprivate init(_ step: LogStep, _ start: Timestamp) {
    sequence = step.sequence
    // A damaged log must not lead in a circle.
    cause = step.record.cause.flatMap { $0 < step.sequence ? $0 : nil }
    text = StepText(step, start: start).line
  }
}

// MARK: - Text

extension CausalTree {
  /// The chain of causes and the tree below, one event a line; the event itself is marked with `▶`.
  ///
  /// What an event caused stands below it. Where there are several, all but the one from which most
  /// followed are indented and come first, so that long histories stay narrow.
  public func render() -> String {
    var lines: [String] = []
    if !hasRoot { lines.append("  … what caused this is not shown") }
    for node in chain.dropLast() { lines.append("  " + node.text) }
    renderNodes(into: &lines)
    if isCut { lines.append("  … more followed; it is not shown") }
    return lines.joined(separator: "\n")
  }

  /// One node that is to be written, and what stands before it and before what follows from it.
  private struct Pending {
    var place: Int
    var head: String
    var body: String
  }

  private func renderNodes(into lines: inout [String]) {
    guard !nodes.isEmpty else { return }
    var places: [UInt64: Int] = [:]
    for (place, node) in nodes.enumerated() { places[node.sequence] = place }
    // Causes come before what they cause, so that sizes add up from the end.
    var sizes = [Int](repeating: 1, count: nodes.count)
    for place in nodes.indices.reversed() {
      for child in nodes[place].children { sizes[place] += places[child].map { sizes[$0] } ?? 0 }
    }
    var stack = [Pending(place: 0, head: "▶ ", body: "  ")]
    while let next = stack.popLast() {
      lines.append(next.head + nodes[next.place].text)
      let children = nodes[next.place].children.compactMap { places[$0] }
      guard let main = children.max(by: { (sizes[$0], $0) < (sizes[$1], $1) }) else { continue }
      stack.append(Pending(place: main, head: next.body, body: next.body))
      for child in children.reversed() where child != main {
        stack.append(Pending(place: child, head: next.body + "├ ", body: next.body + "│ "))
      }
    }
  }
}

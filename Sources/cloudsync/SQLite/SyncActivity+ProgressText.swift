import CloudSyncCore
import CloudSyncSQLite

extension SyncActivity.Progress {
  /// How many characters a bar has.
  private static let width = 20

  /// How far a run has come: a bar and the numbers; nil as long as there is nothing to tell.
  ///
  /// - Parameter isOver: Whether the run is over: only then it is known how much there was to receive, and the last
  ///   rows are done, whether that has been told yet or not.
  /// - Returns: A line for the terminal.
  func text(isOver: Bool = false) -> String? {
    let done = isOver ? total : done
    var numbers: [String] = []
    if total > 0 { numbers.append("\(done) of \(Phrase.count(total, "row")) up") }
    if received > 0 { numbers.append("\(received) received") }
    guard !numbers.isEmpty else { return nil }
    if total > 0 || isOver { numbers.insert(Self.bar(of: done, in: total), at: 0) }
    return numbers.joined(separator: ", ")
  }

  private static func bar(of done: Int, in total: Int) -> String {
    let percent = total == 0 ? 100 : 100 * done / total
    let filled = width * percent / 100
    let bar =
      String(repeating: "#", count: filled) + String(repeating: "·", count: width - filled)
    return "[\(bar)] \(percent) %"
  }
}

/// Why records are held: some wait for others that are held themselves.
struct HeldReasons {
  private let parked: Set<String>
  /// What waiting records wait for.
  private let awaited: [String: String]
  private let names: [String: String]

  init(parked: [SyncMetadata.HeldRecord], waiting: [SyncMetadata.HeldRecord]) {
    self.parked = Set(parked.map(\.recordName))
    var awaited: [String: String] = [:]
    for held in waiting {
      if case .waiting(let name) = held.status { awaited[held.recordName] = name }
    }
    self.awaited = awaited
    names = Dictionary(
      (parked + waiting).map { ($0.recordName, "\($0.table) \($0.key)") },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Why a record is held, and what ends that, in a sentence.
  func reason(for held: SyncMetadata.HeldRecord) -> String {
    switch held.status {
    case .parked(_, let reason): return reason
    case .waiting(let name):
      guard let parent = names[name] else {
        return
          "it needs the record \(name), which is not in the cloud: correct the reference in a copy that has the row"
      }
      if let circle = circle(of: held.recordName) { return circle }
      return
        "it refers to \(parent), which \(parked.contains(name) ? "is parked" : "waits too"): it comes back with that row"
    case .clean, .dirty, .local, .inFlight: return held.status.name
    }
  }

  /// So many rows of a circle are told of.
  private static let longestCircle = 16

  /// Why a record is held that waits for others which wait for it; nil if there is no circle, or a longer one.
  ///
  /// Rows of a circle come together. Where they do not, two of them cannot both be in the table, and none is without the
  /// other.
  private func circle(of name: String) -> String? {
    var circle = [name]
    while circle.count <= Self.longestCircle, let next = awaited[circle[circle.count - 1]] {
      if next == name {
        let rows = circle.compactMap { names[$0] }.joined(separator: ", ")
        return
          "\(rows) refer to each other, and cannot all be in their tables: two of them may have the same value of a unique"
          + " key; insert one of them again, whole, with another value, and all come back"
      }
      circle.append(next)
    }
    return nil
  }
}

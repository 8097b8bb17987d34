/// Why records are held: some wait for others that are held themselves.
struct HeldReasons {
  private let parked: Set<String>
  private let names: [String: String]

  init(parked: [SyncMetadata.HeldRecord], waiting: [SyncMetadata.HeldRecord]) {
    self.parked = Set(parked.map(\.recordName))
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
          "it needs the record \(name), which has not come: mend its reference in a copy that has the row"
      }
      return
        "it refers to \(parent), which \(parked.contains(name) ? "is parked" : "waits too"): it comes back with that row"
    case .clean, .dirty, .local, .inFlight: return held.status.name
    }
  }
}

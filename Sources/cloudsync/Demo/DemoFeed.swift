import CloudSyncCore

/// Lines of what happens, from wherever it happens.
final class DemoFeed: Sendable {
  /// Something that happened.
  struct Line: Sendable {
    var who: String
    var words: String
    var time: Duration
  }

  private let lines = Locked<[Line]>([])

  func tell(of who: String, words: String, at time: Duration) {
    lines.withLock { $0.append(Line(who: who, words: words, time: time)) }
  }

  /// What has come since the last call.
  func take() -> [Line] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}

import CloudSyncCore

/// Lines of what happens, from wherever it happens.
final class DemoFeed: Sendable {
  /// Something that happened.
  struct Line: Sendable {
    var who: String
    var words: String
    var time: Duration
    /// Whether it is one of the many steps that the story can do without.
    var isDetail: Bool
  }

  private let lines = Locked<[Line]>([])

  func tell(of who: String, _ words: DemoWords, at time: Duration) {
    lines.withLock {
      $0.append(Line(who: who, words: words.text, time: time, isDetail: words.isDetail))
    }
  }

  /// What has come since the last call.
  func take() -> [Line] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}

/// What happened, in a line.
struct DemoWords: Sendable {
  var text: String
  /// Whether the story can do without it.
  var isDetail = false
}

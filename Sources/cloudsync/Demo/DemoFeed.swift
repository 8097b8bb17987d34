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

    /// Its time, to a tenth of a second.
    var clock: String {
      let (seconds, attoseconds) = time.components
      return "\(seconds).\(attoseconds / 100_000_000_000_000_000) s"
    }
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

/// What happened, in a line of plain words.
struct DemoWords: Sendable {
  let text: String
  /// Whether the story can do without it.
  let isDetail: Bool

  /// Takes a text, in which the names of errors and kinds of work become words.
  init(text: String, isDetail: Bool = false) {
    var plain = ""
    for letter in text {
      // A name such as `zoneNotFound`, whichever it is.
      let isHump = letter.isUppercase && plain.last?.isLowercase == true
      plain += isHump ? " \(letter.lowercased())" : String(letter)
    }
    self.text = plain
    self.isDetail = isDetail
  }
}

/// A piece of the story.
struct DemoChapter {
  let title: String
  var lines: [DemoFeed.Line] = []
}

import Testing

/// What is wrong, and where.
struct Finding: Sendable, CustomStringConvertible {
  var place: String
  var message: String
  var description: String { "\(place): \(message)" }
}

/// A rule of the house, with samples that show what it refuses and what it lets pass.
struct Rule: Sendable, CustomTestStringConvertible {
  /// The rule in words.
  let name: String
  /// Trees each of which breaks the rule.
  let bad: [SourceTree]
  /// Trees that come close to it, and keep the rule.
  let good: [SourceTree]
  let check: @Sendable (SourceTree) -> [Finding]

  var testDescription: String { name }

  /// Every rule that the package keeps.
  static let all = sizes + shape + reasons + bans + imports + package
}

extension Rule {
  /// Makes a rule that looks at one file at a time.
  static func perFile(
    _ name: String,
    in folder: String? = nil,
    except exempt: [String] = [],
    bad: [SourceTree],
    good: [SourceTree],
    check: @escaping @Sendable (SourceFile) -> [Finding]
  ) -> Rule {
    Rule(name: name, bad: bad, good: good) { tree in
      (folder.map(tree.files(in:)) ?? tree.files)
        .filter { file in !exempt.contains { file.path.hasPrefix($0 + "/") } }
        .flatMap(check)
    }
  }
}

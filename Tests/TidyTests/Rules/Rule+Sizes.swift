extension Rule {
  private static let sourceLimit = 500
  private static let testLimit = 600
  private static let functionLimit = 70
  private static let folderLimit = 16

  /// Rules about how long and how many.
  static let sizes = [fileLength, functionLength, folderSize]

  private static let fileLength = perFile(
    "A file has at most \(sourceLimit) lines, one of tests \(testLimit)",
    bad: [
      ["Sources/A/A.swift": lines(sourceLimit + 1)],
      ["Examples/E/Sources/A.swift": lines(sourceLimit + 1)],
      ["Tests/T/T.swift": lines(testLimit + 1)],
    ],
    good: [
      ["Sources/A/A.swift": lines(sourceLimit)],
      ["Tests/T/T.swift": lines(testLimit)],
      ["Examples/E/Tests/T/T.swift": lines(testLimit)],
    ]
  ) { file in
    let limit = file.isTest ? testLimit : sourceLimit
    return file.lineCount <= limit ? [] : [file.finding(limit, "\(file.lineCount) lines")]
  }

  private static let functionLength = perFile(
    "A function has at most \(functionLimit) lines",
    bad: [
      ["Sources/A/A.swift": function("func f(a: () -> Void = {}) {", lines: functionLimit + 1)],
      ["Sources/A/A.swift": function("init() {", lines: functionLimit + 1)],
      ["Sources/A/A.swift": function("var a: Int {", lines: functionLimit + 1)],
      ["Sources/A/A.swift": function("let body = {", lines: functionLimit + 1)],
      ["Tests/A/A.swift": function("let s = \"\\(\"}\")\"; func f() {", lines: functionLimit + 1)],
    ],
    good: [
      ["Sources/A/A.swift": function("func f() {", lines: functionLimit)],
      ["Sources/A/A.swift": function("struct S {", lines: functionLimit + 1)],
      [
        "Sources/A/A.swift": function("protocol P { func f() }; enum E {", lines: functionLimit + 1)
      ],
      ["Sources/A/A.swift": function("var a = 1\nstruct S {", lines: functionLimit + 1)],
      ["Sources/A/A.swift": function("func f() { g(\"{\") } /* { */; enum E {", lines: 99)],
      ["Sources/A/A.swift": function("let a = S.init(1); extension E {", lines: 99)],
    ]
  ) { file in
    guard file.lineCount > functionLimit else { return [] }
    return file.functions.filter { $0.lineCount > functionLimit }
      .map { file.finding($0.firstLine, "a function of \($0.lineCount) lines") }
  }

  private static let folderSize = Rule(
    name: "A folder of sources has at most \(folderLimit) files",
    bad: [folder("Sources/A", count: folderLimit + 1)],
    good: [folder("Sources/A", count: folderLimit), folder("Tests/A", count: folderLimit + 1)]
  ) { tree in
    let folders = tree.files(in: "Sources").map(\.folder).sorted()
    return Set(folders).sorted()
      .compactMap { folder in
        let count = folders.count { $0 == folder }
        return count <= folderLimit ? nil : Finding(place: folder, message: "\(count) files")
      }
  }
}

// MARK: - Samples

private func lines(_ count: Int) -> String { String(repeating: "// line\n", count: count) }

/// A declaration whose last line of the header, body and closing brace take this many lines.
private func function(_ header: String, lines count: Int) -> String {
  header + "\n" + lines(count - 2) + "}\n"
}

private func folder(_ path: String, count: Int) -> SourceTree {
  let files = (0..<count).map { SourceFile(path: "\(path)/F\($0).swift", source: "") }
  return SourceTree(files: files, folders: ["Sources"])
}

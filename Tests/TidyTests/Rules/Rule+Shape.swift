extension Rule {
  /// Types that are too long still, and how long they may be: of what happens between the regions of
  /// a state some has yet to find a type of its own.
  private static let longTypes = ["SyncRegions": 1_410]
  private static let unlabelledLimit = 2
  private static let unlabelledPercent = 28
  private static let typeLimit = 800

  /// Rules about folders, labels and types.
  static let shape = [noFolderCircles, labels, shareOfLabels, typeLength]

  private static let noFolderCircles = Rule(
    name: "The folders of a module depend on each other without a circle",
    bad: [
      [
        "Sources/M/A/A.swift": "struct A { var b: B }",
        "Sources/M/B/B.swift": "enum B { case a(A) }",
      ],
      [
        "Sources/M/A.swift": "struct A {}; let b = B()",
        "Sources/M/B/B.swift": "class B { let a: A }",
      ],
      [
        "Sources/M/A/A.swift": "struct A: B {}",
        "Sources/M/B/B.swift": "protocol B { func f(_: C) }",
        "Sources/M/C/C.swift": "extension A {}; actor C {}",
      ],
    ],
    good: [
      ["Sources/M/A/A.swift": "struct A { var b: B }", "Sources/M/B/B.swift": "enum B { } // A"],
      [
        "Sources/M/A/A.swift": "struct A { var b: B }",
        "Sources/M/A/B.swift": "enum B { case a(A) }",
      ],
      [
        "Sources/M/A/A.swift": "struct A { var b: B }",
        "Sources/N/B/B.swift": "enum B { case a(A) }",
      ],
      [
        "Sources/M/A/A.swift": "struct A { var b: B }; struct C { struct A {} }",
        "Sources/M/B/B.swift": "enum B { case c(\"A\") }",
      ],
    ]
  ) { tree in
    tree.modules.flatMap { FolderGraph(tree.files(in: "Sources/\($0)")).circles }
      .map { Finding(place: $0[0], message: "a circle of folders: \($0.joined(separator: ", "))") }
  }

  private static let labels = perFile(
    "A function has at most \(unlabelledLimit) parameters without a label",
    in: "Sources",
    bad: [
      ["Sources/A/A.swift": "func f(_ a: Int, _ b: Int, _ c: Int)"],
      ["Sources/A/A.swift": "func f<A: B<C>>(\n_ a: A,\n@B _ b: [Int: D<E, F>],\nd: Int, _ c: A)"],
    ],
    good: [
      ["Sources/A/A.swift": "func f(_ a: Int, _ b: Int, c: Int, d: (_ a: A, _ b: A, _ c: A) -> A)"],
      ["Tests/A/A.swift": "func f(_ a: Int, _ b: Int, _ c: Int)"],
    ]
  ) { file in
    file.functionParameters.filter { $0.unlabelledCount > unlabelledLimit }
      .map { file.finding($0.line, "\($0.name) has \($0.unlabelledCount) unlabelled parameters") }
  }

  private static let shareOfLabels = Rule(
    name: "At most \(unlabelledPercent) % of all parameters are without a label",
    bad: [
      ["Sources/A/A.swift": "func f(_ a: Int, b: Int)"],
      [
        "Sources/A/A.swift": "func f(_ a: Int, b: Int)",
        "Sources/B/B.swift": "func f(a: Int)",
      ],
    ],
    good: [
      ["Sources/A/A.swift": "func f(_ a: Int, b: Int, c: Int, d: Int)"],
      [
        "Sources/A/A.swift": "func f(_ a: Int)",
        "Sources/B/B.swift": "func f(a: Int, b: Int, c: Int)",
      ],
      ["Sources/A/A.swift": "func f(); init(_ a: A)"],
    ]
  ) { tree in
    let functions = tree.files(in: "Sources").flatMap(\.functionParameters)
    let count = functions.reduce(0) { $0 + $1.count }
    let unlabelled = functions.reduce(0) { $0 + $1.unlabelledCount }
    guard unlabelled * 100 > count * unlabelledPercent else { return [] }
    return [Finding(place: "Sources", message: "\(unlabelled) of \(count) have no label")]
  }

  private static let typeLength = Rule(
    name: "A type has at most \(typeLimit) lines of code over all its extensions",
    bad: [
      ["Sources/A/A.swift": "struct A {\n\(code(typeLimit))}"],
      [
        "Sources/A/A.swift": "struct A {\n\(code(typeLimit / 2))}",
        "Sources/A/B/A+B.swift": "extension A.B: C {\n\(code(typeLimit / 2))}",
      ],
    ],
    good: [
      ["Sources/A/A.swift": "struct A {\n\(code(typeLimit / 2))\n// a\n}"],
      [
        "Sources/A/A.swift": "struct A {\n\(code(typeLimit / 2))}",
        "Sources/B/A.swift": "extension A {\n\(code(typeLimit / 2))}",
      ],
    ]
  ) { tree in
    tree.modules
      .flatMap { module -> [Finding] in
        let parts = tree.files(in: "Sources/\(module)").flatMap(\.typeParts)
        let lines = Dictionary(grouping: parts, by: \.name)
          .mapValues { $0.reduce(0) { $0 + $1.codeLineCount } }
        return lines.filter { $0.value > longTypes[$0.key] ?? typeLimit }
          .sorted { $0.key < $1.key }
          .map { Finding(place: module, message: "\($0.key) has \($0.value) lines of code") }
      }
  }
}

// MARK: - Samples

private func code(_ count: Int) -> String { String(repeating: "let a = 1\n", count: count) }

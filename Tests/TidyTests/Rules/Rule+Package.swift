extension Rule {
  private static let umbrella = "Sources/CloudSyncSession"
  private static let manifest = "Package.swift"
  /// The features that Swift 6.3 has and does not turn on by itself; it ignores names unknown to it.
  private static let knownFeatures = [
    "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility",
    "InferIsolatedConformances", "NonisolatedNonsendingByDefault", "ImmutableWeakCaptures",
  ]
  private static let topFolders = ["Sources", "Tests", "Examples"]

  /// Rules about the package as a whole.
  static let package = [umbrellaIsEmpty, noDependency, features, privacy, topLevel, noLinks]

  private static let umbrellaIsEmpty = Rule(
    name: "The umbrella is one file that declares nothing",
    bad: [
      [umbrella + "/A.swift": "@_exported public import A", umbrella + "/B/B.swift": ""],
      [umbrella + "/A.swift": "@_exported public import A\npublic typealias B = A"],
      [umbrella + "/A.swift": "import A"],
      ["Sources/Other/A.swift": ""],
    ],
    good: [
      [umbrella + "/A.swift": "// Why.\n@_exported public import A\n@_exported public import B"]
    ]
  ) { tree in
    let files = tree.files(in: umbrella)
    let count = files.count == 1 ? [] : [Finding(place: umbrella, message: "\(files.count) files")]
    return count
      + files.flatMap { file in
        let exports = file.places(of: Tokenizer.texts(of: "@_exported public import"))
        let isMore = file.tokens.count != 5 * exports.count
        return isMore ? [file.finding(1, "there is more here than exports")] : []
      }
  }

  private static let noDependency = perManifest(
    "The root package depends on no other",
    bad: [
      [manifest: "dependencies: [ .package(url: a) ]"],
      [manifest: "Package.Dependency.package (path: a)"],
    ],
    good: [
      [manifest: "let package = Package(name: a) // .package("],
      ["Examples/E/Package.swift": ".package(path: a)"],
    ]
  ) { file in
    file.places(of: Tokenizer.texts(of: ".package("))
      .map { file.finding($0.line, "a dependency: it belongs into a package under Examples") }
  }

  private static let features = perManifest(
    "The manifest names only features that exist",
    bad: [
      [manifest: ".enableUpcomingFeature(\"NoSuchThing\")"],
      [manifest: ".enableUpcomingFeature(name)"],
    ],
    good: [
      [manifest: knownFeatures.map { ".enableUpcomingFeature(\"\($0)\")" }.joined(separator: "\n")]
    ]
  ) { file in
    zip(file.tokens, file.tokens.dropFirst(2))
      .filter { call, _ in call.text == "enableUpcomingFeature" }
      .filter { _, name in !knownFeatures.contains { name.text == "\"\($0)\"" } }
      .map { file.finding($1.line, "\($1.text) is no feature known to exist") }
  }

  /// Modules whose manifest of privacy says why they call `stat`, and the tool, which is no app.
  private static let privacyModules = [
    "CloudSyncAssets", "CloudSyncEventLog", "CloudSyncLocalCloud", "CloudSyncSQLiteSimulation",
    "CloudSyncWebServices", "cloudsync",
  ]

  private static let privacy = perFile(
    "Only modules that say so in PrivacyInfo.xcprivacy ask for a file's facts",
    in: "Sources",
    bad: [
      ["Sources/CloudSyncCore/A.swift": "stat(path, &status)"],
      ["Sources/CloudSyncSQLite/A/A.swift": "guard fstat(descriptor, &status) == 0"],
    ],
    good: [
      ["Sources/CloudSyncEventLog/A.swift": "var status = stat(); fstat(descriptor, &status)"],
      ["Sources/CloudSyncCore/A.swift": "status(path); my.stats(a)"],
    ]
  ) { file in
    guard !privacyModules.contains(where: { file.path.hasPrefix("Sources/\($0)/") }) else {
      return []
    }
    return ["stat(", "fstat(", "lstat("].flatMap { file.places(of: Tokenizer.texts(of: $0)) }
      .map { file.finding($0.line, "Apple's review wants to know why: add PrivacyInfo.xcprivacy") }
  }

  private static let topLevel = Rule(
    name: "The top level has no folders but those a newcomer expects",
    bad: [["Documentation/A.swift": ""], SourceTree(files: [], folders: ["Sources", "Scripts"])],
    good: [
      ["Sources/A.swift": "", "Tests/A.swift": "", "Examples/A.swift": "", "Package.swift": ""]
    ]
  ) { tree in
    tree.folders.filter { !topFolders.contains($0) }
      .map { Finding(place: $0, message: "a folder at the top level") }
  }

  private static let noLinks = Rule(
    name: "No file or folder is a symbolic link: what is shared is a target",
    bad: [SourceTree(files: [], folders: ["Tests"], links: ["Tests/A/Support"])],
    good: [["Tests/A/Support/A.swift": ""]]
  ) { tree in
    tree.links.map { Finding(place: $0, message: "a symbolic link") }
  }

  private static func perManifest(
    _ name: String,
    bad: [SourceTree],
    good: [SourceTree],
    check: @escaping @Sendable (SourceFile) -> [Finding]
  ) -> Rule {
    Rule(name: name, bad: bad, good: good) { tree in
      tree.files.filter { $0.path == manifest }.flatMap(check)
    }
  }
}

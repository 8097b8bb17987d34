extension Rule {
  private static let core = "Sources/CloudSyncCore"
  private static let adapter = "Sources/CloudSyncCloudKit"
  /// What CloudKit's handler imports beside the frameworks that it is for.
  private static let adapterImports = ["CloudSyncAssets", "CloudSyncCore", "Foundation"]
  private static let optional = ["Combine", "OSLog", "os", "Observation", "SwiftUI"]
  private static let system = ["Dispatch", "Glibc", "Darwin", "Musl", "Android", "Bionic"]

  /// Rules about what a module may import.
  static let imports = [
    perFile(
      "The core imports what its promises allow, where they allow it",
      in: core,
      bad: [
        "import Foundation", "import FoundationEssentials", "import SQLite3", "import Combine",
        "import class Combine.PassthroughSubject", "import Dispatch",
        "#if canImport(Foundation)\nimport Foundation\n#endif",
        "#if !canImport(Combine)\nimport Combine\n#endif",
        "#if canImport(Combine)\n#else\nimport Combine\n#endif",
        "#if canImport(Combine)\n#endif\n@preconcurrency import Combine",
        "#if canImport(Glibc)\nimport Glibc\n#endif",
      ]
      .map { [core + "/State/A.swift": $0] } + [
        [core + "/Environment/A.swift": "import Foundation"]
      ],
      good: [
        "#if canImport(FoundationEssentials)\npublic import FoundationEssentials\n#else\n"
          + "public import Foundation\n#endif",
        "#if canImport(Combine)\npublic import Combine\n#endif",
        "#if os(macOS) && canImport(SwiftUI)\nimport struct SwiftUI.Text\n#endif",
        "#if os(Linux)\n#elseif canImport(os)\n#if DEBUG\nimport os\n#endif\n#endif",
        "// import Foundation",
      ]
      .map { [core + "/State/A.swift": $0] } + [
        [
          core + "/Environment/A.swift":
            "import Dispatch\n#if canImport(Glibc)\nimport Glibc\n#endif"
        ],
        ["Sources/CloudSyncOther/A.swift": "import Foundation"],
      ]
    ) { file in
      file.imports
        .filter { !isAllowed($0, inEnvironment: file.path.hasPrefix(core + "/Environment/")) }
        .map { file.finding($0.line, "the core does not import \($0.module) here") }
    },
    perFile(
      "Apple's CloudKit is for its handler alone, where it can be imported",
      in: "Sources",
      bad: [
        ["Sources/CloudSyncSQLite/A.swift": "#if canImport(CloudKit)\nimport CloudKit\n#endif"],
        [adapter + "/A.swift": "import CloudKit"],
        [adapter + "/A.swift": "import CoreLocation"],
        [adapter + "/A/A.swift": "#if !canImport(CloudKit)\npublic import CloudKit\n#endif"],
        [adapter + "/A/A.swift": "import CloudSyncLocalCloud"],
      ],
      good: [
        [
          adapter + "/A.swift":
            "#if canImport(CloudKit)\npublic import CloudKit\nimport CoreLocation\n#endif"
        ],
        [adapter + "/Exports.swift": "@_exported public import CloudSyncCore"],
        ["Sources/CloudSyncSQLite/A.swift": "// import CloudKit"],
      ]
    ) { file in
      let isAdapter = file.path.hasPrefix(adapter + "/")
      return file.imports
        .filter { statement in
          if ["CloudKit", "CoreLocation"].contains(statement.module) {
            return !isAdapter || !statement.isUnder("canImport(CloudKit)")
          }
          return isAdapter && !adapterImports.contains(statement.module)
        }
        .map { file.finding($0.line, "\($0.module) is not imported here") }
    },
  ]

  private static func isAllowed(_ statement: ImportStatement, inEnvironment: Bool) -> Bool {
    switch statement.module {
    case "Foundation": statement.isUnder("!(canImport(FoundationEssentials))")
    case "FoundationEssentials": statement.isUnder("canImport(FoundationEssentials)")
    case let module where optional.contains(module): statement.isUnder("canImport(\(module))")
    case let module: inEnvironment && system.contains(module)
    }
  }
}

/// An import, and the conditions under which it is compiled.
struct ImportStatement: Sendable {
  var module: String
  var line: Int
  /// From the outermost in, without spaces; a branch that is reached because a condition is false
  /// has it as `!(condition)`.
  var conditions: [String]

  /// Whether a condition that must hold is this one.
  func isUnder(_ condition: String) -> Bool {
    conditions.contains {
      $0.split(separator: "&&", omittingEmptySubsequences: true).contains { $0 == condition }
    }
  }
}

extension SourceFile {
  /// The imports of the file, each with the conditional blocks around it.
  var imports: [ImportStatement] {
    let kinds = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
    var found: [ImportStatement] = []
    var conditions: [String] = []
    for index in tokens.indices.dropLast() {
      let next = tokens[index + 1]
      switch (tokens[index].text, next.text) {
      case ("#", "if"): conditions.append(condition(after: index + 1))
      case ("#", "elseif"):
        _ = conditions.popLast()
        conditions.append(condition(after: index + 1))
      case ("#", "else"): conditions.append("!(\(conditions.popLast() ?? ""))")
      case ("#", "endif"): _ = conditions.popLast()
      case ("import", _) where next.isWord:
        let name = tokens[(index + 1)...].first { !kinds.contains($0.text) } ?? next
        found.append(
          ImportStatement(module: name.text, line: name.line, conditions: conditions)
        )
      default: break
      }
    }
    return found
  }

  /// The rest of the line after a token, without spaces.
  private func condition(after index: Int) -> String {
    tokens[(index + 1)...].prefix { $0.line == tokens[index].line }.map(\.text).joined()
  }
}

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "CloudSyncSession",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .library(name: "CloudSyncSession", targets: ["CloudSyncSession"]),
    .library(name: "CloudSyncEventLog", targets: ["CloudSyncEventLog", "CloudSyncSession"]),
    .library(name: "CloudSyncLogTestGeneration", targets: ["CloudSyncLogTestGeneration"]),
    .library(name: "CloudSyncLocalCloud", targets: ["CloudSyncLocalCloud", "CloudSyncSession"]),
    .library(name: "CloudSyncSimulator", targets: ["CloudSyncSimulator", "CloudSyncSession"]),
    .library(name: "CloudSyncSQLite", targets: ["CloudSyncSQLite", "CloudSyncSession"]),
    .library(
      name: "CloudSyncChangesets",
      targets: ["CloudSyncChangesets", "CloudSyncSQLite", "CloudSyncSession"]
    ),
    .library(name: "CloudSyncCloudKit", targets: ["CloudSyncCloudKit", "CloudSyncSession"]),
    .library(name: "CloudSyncService", targets: ["CloudSyncService", "CloudSyncSession"]),
    .library(name: "CloudSyncWebServices", targets: ["CloudSyncWebServices", "CloudSyncSession"]),
    .executable(name: "cloudsync", targets: ["cloudsync"]),
  ],
  targets: [
    // MARK: The session
    .target(name: "CloudSyncCore"),
    .testTarget(
      name: "CloudSyncCoreTests",
      dependencies: ["CloudSyncCore", "CloudSyncSimulator", "CloudSyncTestSupport"]
    ),

    // MARK: Virtual time
    .target(name: "CloudSyncVirtualTime", dependencies: ["CloudSyncCore"]),
    // What the tests of several modules use; no product has it.
    .target(
      name: "CloudSyncTestSupport",
      dependencies: [
        "CloudSyncCore", "CloudSyncSimulator", "CloudSyncVirtualTime",
        .target(name: "CSQLite", condition: .when(platforms: [.linux, .android])),
      ],
      path: "Tests/CloudSyncTestSupport"
    ),

    // MARK: Records of Codable models
    .target(name: "CloudSyncRecordCoding", dependencies: ["CloudSyncCore"]),
    .testTarget(
      name: "CloudSyncRecordCodingTests",
      dependencies: ["CloudSyncRecordCoding", "CloudSyncCore", "CloudSyncTestSupport"]
    ),

    // MARK: Umbrella
    .target(name: "CloudSyncSession", dependencies: ["CloudSyncCore", "CloudSyncRecordCoding"]),
    .testTarget(
      name: "CloudSyncSessionTests",
      dependencies: [
        "CloudSyncSession", "CloudSyncEventLog", "CloudSyncSQLite", "CloudSyncLocalCloud",
        "CloudSyncChangesets",
      ]
    ),

    // The code of the articles.
    .testTarget(
      name: "CloudSyncDocumentationTests",
      dependencies: [
        "CloudSyncSession", "CloudSyncCore", "CloudSyncEventLog", "CloudSyncLogTestGeneration",
        "CloudSyncLocalCloud", "CloudSyncSimulator", "CloudSyncSQLite", "CloudSyncService",
        "CloudSyncWebServices", "CloudSyncChangesets",
      ]
    ),

    // MARK: Event log
    .target(
      name: "CloudSyncEventLog",
      dependencies: ["CloudSyncCore"],
      // The page of the report: in the code, so that neither a bundle nor Foundation is needed.
      resources: [
        "report.html", "report.css", "data.js", "states.js", "timeline.js", "list.js", "panels.js",
        "controls.js",
      ]
      .map { .embedInCode("Report/Page/Files/\($0)") }
    ),
    .target(
      name: "CloudSyncLogTestGeneration",
      dependencies: ["CloudSyncCore", "CloudSyncEventLog", "CloudSyncVirtualTime"]
    ),
    .testTarget(
      name: "CloudSyncEventLogTests",
      dependencies: [
        "CloudSyncEventLog", "CloudSyncLogTestGeneration", "CloudSyncTestSupport",
      ],
      exclude: ["Fixtures", "Report/browser-check.py", "TestGeneration/compile-check.sh"]
    ),

    // MARK: SQLite
    .target(
      name: "CloudSyncSQLiteSupport",
      dependencies: [
        // Apple's systems have the module SQLite3 in their SDK.
        .target(name: "CSQLite", condition: .when(platforms: [.linux, .android])),
        "CSQLiteConfig",
      ],
      swiftSettings: [.strictMemorySafety()]
    ),
    .systemLibrary(
      name: "CSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]
    ),

    // What Swift cannot call: functions with variable arguments.
    .target(
      name: "CSQLiteConfig",
      dependencies: [.target(name: "CSQLite", condition: .when(platforms: [.linux, .android]))],
      linkerSettings: [.linkedLibrary("sqlite3")]
    ),

    // Schemas, without an engine: the engine exports it, so no product has it by itself.
    .target(name: "CloudSyncSQLiteSchema", dependencies: ["CloudSyncSQLiteSupport"]),
    .testTarget(
      name: "CloudSyncSQLiteSchemaTests",
      dependencies: ["CloudSyncSQLiteSchema", "CloudSyncSQLiteSupport", "CloudSyncCore"]
    ),

    .target(
      name: "CloudSyncSQLite",
      dependencies: ["CloudSyncCore", "CloudSyncSQLiteSchema", "CloudSyncSQLiteSupport"]
    ),
    .testTarget(
      name: "CloudSyncSQLiteTests",
      dependencies: [
        "CloudSyncSQLite", "CloudSyncSQLiteSchema", "CloudSyncSQLiteSupport", "CloudSyncLocalCloud",
        "CloudSyncSimulator", "CloudSyncTestSupport",
      ]
    ),

    // MARK: The history of a database
    .target(
      name: "CloudSyncChangesets",
      dependencies: [
        "CloudSyncCore", "CloudSyncSQLite", "CloudSyncSQLiteSchema", "CloudSyncSQLiteSupport",
      ]
    ),
    .testTarget(
      name: "CloudSyncChangesetsTests",
      dependencies: [
        "CloudSyncChangesets", "CloudSyncCore", "CloudSyncSQLite", "CloudSyncSQLiteSchema",
        "CloudSyncSQLiteSupport", "CloudSyncLocalCloud", "CloudSyncSimulator",
        "CloudSyncTestSupport",
        // The session extension is the oracle of what was changed.
        .target(name: "CSQLite", condition: .when(platforms: [.linux, .android])),
      ]
    ),

    // MARK: Local cloud
    .target(
      name: "CloudSyncLocalCloud",
      dependencies: ["CloudSyncCore", "CloudSyncSQLiteSupport"]
    ),
    .testTarget(
      name: "CloudSyncLocalCloudTests",
      dependencies: ["CloudSyncLocalCloud", "CloudSyncSession", "CloudSyncTestSupport"]
    ),

    // MARK: Files of assets
    // Handlers that bring files share it: those that are for users export it.
    .target(name: "CloudSyncAssets", dependencies: ["CloudSyncCore"]),
    .testTarget(
      name: "CloudSyncAssetsTests",
      dependencies: ["CloudSyncAssets", "CloudSyncCore"]
    ),

    // MARK: CloudKit
    // Its tests need a CloudKit to compile against: they are in Tests/CloudKitStub.
    .target(name: "CloudSyncCloudKit", dependencies: ["CloudSyncAssets", "CloudSyncCore"]),

    // MARK: CloudKit's HTTP API
    .target(name: "CloudSyncWire", dependencies: ["CloudSyncCore"]),
    .testTarget(
      name: "CloudSyncWireTests",
      dependencies: ["CloudSyncWire", "CloudSyncCore", "CloudSyncTestSupport"]
    ),
    // What the codec is held against; no product has it.
    .executableTarget(
      name: "CloudSyncWireFigures",
      dependencies: ["CloudSyncWire", "CloudSyncCore"],
      path: "Tests/CloudSyncWireFigures"
    ),
    .target(
      name: "CloudSyncService",
      dependencies: ["CloudSyncCore", "CloudSyncLocalCloud", "CloudSyncWire"]
    ),
    .target(
      name: "CloudSyncWebServices",
      dependencies: ["CloudSyncAssets", "CloudSyncCore", "CloudSyncWire"]
    ),
    .testTarget(
      name: "CloudSyncServiceTests",
      dependencies: [
        "CloudSyncService", "CloudSyncWebServices", "CloudSyncWire", "CloudSyncLocalCloud",
        "CloudSyncSQLite", "CloudSyncSQLiteSupport", "CloudSyncSimulator", "CloudSyncTestSupport",
        "CloudSyncLoopback",
      ]
    ),
    // A server for this machine, for tests and the tool's demonstration; no product has it.
    .target(name: "CloudSyncLoopback", dependencies: ["CloudSyncWire"]),

    // MARK: Simulator
    .target(
      name: "CloudSyncSimulator",
      dependencies: [
        "CloudSyncCore", "CloudSyncEventLog", "CloudSyncLocalCloud", "CloudSyncVirtualTime",
      ]
    ),
    .testTarget(
      name: "CloudSyncSimulatorTests",
      dependencies: ["CloudSyncSimulator", "CloudSyncTestSupport"]
    ),

    .target(
      name: "CloudSyncSQLiteSimulation",
      dependencies: [
        "CloudSyncChangesets", "CloudSyncCore", "CloudSyncSQLite", "CloudSyncSQLiteSchema",
        "CloudSyncSQLiteSupport", "CloudSyncSimulator",
      ]
    ),
    .testTarget(
      name: "CloudSyncSQLiteSimulationTests",
      dependencies: [
        "CloudSyncSQLiteSimulation", "CloudSyncChangesets", "CloudSyncSQLite",
        "CloudSyncSQLiteSupport", "CloudSyncLocalCloud", "CloudSyncSimulator",
        "CloudSyncTestSupport",
      ]
    ),

    // MARK: The tool
    .executableTarget(
      name: "cloudsync",
      dependencies: [
        "CloudSyncChangesets", "CloudSyncEventLog", "CloudSyncLogTestGeneration",
        "CloudSyncLocalCloud", "CloudSyncSimulator", "CloudSyncSQLite", "CloudSyncSQLiteSimulation",
        "CloudSyncService",
        "CloudSyncWebServices", "CloudSyncLoopback",
      ],
      // The page of a history's report.
      resources: [
        "history.html", "history.css", "data.js", "graph.js", "panels.js", "controls.js",
      ]
      .map { .embedInCode("History/Report/Files/\($0)") }
    ),
    .testTarget(
      name: "CloudSyncToolTests",
      dependencies: [
        "cloudsync", "CloudSyncChangesets", "CloudSyncSimulator", "CloudSyncTestSupport",
        "CloudSyncService",
        "CloudSyncLocalCloud", "CloudSyncLoopback",
      ],
      exclude: ["History/browser-check.py"]
    ),

    // MARK: The house
    .testTarget(name: "TidyTests"),
  ],
  swiftLanguageModes: [.v6]
)

var sharedSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
  .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
]

// The gate takes no warning. Whoever depends on this package is not stopped by what a newer compiler warns of.
if Context.environment["CLOUDSYNC_STRICT"] == "1" {
  sharedSettings.append(.treatAllWarnings(as: .error))
}

for target in package.targets where [.regular, .test, .executable].contains(target.type) {
  target.swiftSettings = (target.swiftSettings ?? []) + sharedSettings
}

// What calls stat says so, as Apple's review wants. Elsewhere a bundle would bring all of Foundation.
for target in package.targets
where [
  "CloudSyncAssets", "CloudSyncEventLog", "CloudSyncLocalCloud", "CloudSyncSQLiteSimulation",
  "CloudSyncWebServices",
]
.contains(target.name) {
  #if canImport(Darwin)
  target.resources = (target.resources ?? []) + [.copy("PrivacyInfo.xcprivacy")]
  #else
  target.exclude.append("PrivacyInfo.xcprivacy")
  #endif
}

// Whoever wants the tests of one target builds what they need, and nothing else: the gate does so to look for races.
if let wanted = Context.environment["CLOUDSYNC_TESTS"] {
  var needed: Set<String> = [wanted]
  var open = [wanted]
  while let name = open.popLast() {
    for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _):
        if needed.insert(name).inserted { open.append(name) }
      default: break
      }
    }
  }
  package.products = []
  package.targets.removeAll { !needed.contains($0.name) }
}

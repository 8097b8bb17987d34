// swift-tools-version: 6.2
import PackageDescription

// Compiles the adapter of CloudKit, and tests it, where there is no CloudKit. Build in two steps:
//
//   swift build --package-path Tests/CloudKitStub --target CloudKit
//   swift test --package-path Tests/CloudKitStub
//
// The adapter asks whether CloudKit can be imported. In one step it may be compiled before the stub exists, and
// be empty: then the tests do not compile.

#if os(Linux)
let stubs: [Target.Dependency] = ["CloudKit", "CoreLocation"]
#else
// A Mac has the frameworks.
let stubs: [Target.Dependency] = []
#endif

let package = Package(
  name: "CloudKitStub",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "CloudSyncSession", path: "../..")],
  targets: [
    // Uses every declaration of the table: on a Mac it compiles against the real frameworks.
    .target(name: "Signatures", dependencies: stubs),
    // Runs the conformance suite against a real container, on a Mac.
    .executableTarget(
      name: "RealContainer",
      dependencies: stubs + [
        .product(name: "CloudSyncCloudKit", package: "CloudSyncSession"),
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)

#if os(Linux)
package.targets += [
  .target(name: "CoreLocation"),
  .target(name: "CloudKit", dependencies: ["CoreLocation"]),
  // CloudKit's server and the framework's ways, over a local cloud.
  .target(
    name: "StubCloud",
    dependencies: [
      "CloudKit", "CoreLocation",
      .product(name: "CloudSyncSession", package: "CloudSyncSession"),
      .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
    ]
  ),
  .executableTarget(
    name: "MappingBenchmark",
    dependencies: ["CloudKit", .product(name: "CloudSyncCloudKit", package: "CloudSyncSession")]
  ),
  .testTarget(
    name: "AdapterTests",
    dependencies: [
      "CloudKit", "CoreLocation", "StubCloud", "Signatures",
      .product(name: "CloudSyncCloudKit", package: "CloudSyncSession"),
      .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
      .product(name: "CloudSyncSession", package: "CloudSyncSession"),
      .product(name: "CloudSyncSimulator", package: "CloudSyncSession"),
      .product(name: "CloudSyncSQLite", package: "CloudSyncSession"),
    ]
  ),
]
#endif

// Whether the frameworks' classes are Sendable, and their blocks too, is not documented: the adapter compiles
// without warnings either way.
let isSendable = Context.environment["CLOUDKIT_STUB_SENDABLE"] == "1"

for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),  // SE-0335
    .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
    .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
    .enableUpcomingFeature("InferIsolatedConformances"),  // SE-0470
  ]
  if isSendable { target.swiftSettings?.append(.define("CLOUDKIT_STUB_SENDABLE")) }
  // The gate takes no warning.
  if Context.environment["CLOUDSYNC_STRICT"] == "1" {
    target.swiftSettings?.append(.treatAllWarnings(as: .error))
  }
}

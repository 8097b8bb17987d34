// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "GRDBExample",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .library(name: "CloudSyncGRDB", targets: ["CloudSyncGRDB"]),
    .executable(name: "shopping", targets: ["shopping"]),
  ],
  dependencies: [
    .package(name: "CloudSyncSession", path: "../.."),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    .target(
      name: "CloudSyncGRDB",
      dependencies: [
        .product(name: "CloudSyncSQLite", package: "CloudSyncSession"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "shopping",
      dependencies: [
        "CloudSyncGRDB",
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "CloudSyncSQLite", package: "CloudSyncSession"),
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "ShoppingTests",
      dependencies: [
        "CloudSyncGRDB", "shopping",
        .product(name: "CloudSyncSimulator", package: "CloudSyncSession"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)

// The gate takes no warning.
if Context.environment["CLOUDSYNC_STRICT"] == "1" {
  for target in package.targets where [.regular, .test, .executable].contains(target.type) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
}

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "CloudSyncSession", path: "../..")],
  targets: [
    // What the local cloud's file is held against.
    .systemLibrary(name: "SQLiteBaseline"),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "CloudSyncEventLog", package: "CloudSyncSession"),
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
        .product(name: "CloudSyncSimulator", package: "CloudSyncSession"),
        .product(name: "CloudSyncSQLite", package: "CloudSyncSession"),
        .product(name: "CloudSyncChangesets", package: "CloudSyncSession"),
        "SQLiteBaseline",
      ]
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

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Notes",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "notes", targets: ["notes"])
  ],
  dependencies: [
    .package(name: "CloudSyncSession", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "notes",
      dependencies: [
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "CloudSyncEventLog", package: "CloudSyncSession"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)

// The gate takes no warning.
if Context.environment["CLOUDSYNC_STRICT"] == "1" {
  for target in package.targets where [.regular, .test, .executable].contains(target.type) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
}

// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "NotesApp",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .executable(name: "NotesApp", targets: ["NotesApp"])
  ],
  dependencies: [
    .package(name: "CloudSyncSession", path: "../..")
  ],
  targets: [
    // What the app shows and does, without a view: it runs wherever Swift does.
    .target(
      name: "NotesModel",
      dependencies: [
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "CloudSyncSQLite", package: "CloudSyncSession"),
      ],
      swiftSettings: settings
    ),
    // The views, where there is SwiftUI.
    .executableTarget(
      name: "NotesApp",
      dependencies: [
        "NotesModel",
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "CloudSyncSQLite", package: "CloudSyncSession"),
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "NotesModelTests",
      dependencies: [
        "NotesModel",
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "CloudSyncSQLite", package: "CloudSyncSession"),
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
        .product(name: "CloudSyncSimulator", package: "CloudSyncSession"),
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

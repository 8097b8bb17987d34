// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "CloudSyncSession", path: "../..")],
  targets: [
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "CloudSyncEventLog", package: "CloudSyncSession"),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)

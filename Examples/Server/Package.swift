// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "CloudSyncServer",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "cloudsync-server", targets: ["cloudsync-server"]),
    .library(name: "CloudSyncSigning", targets: ["CloudSyncSigning"]),
    .library(name: "CloudSyncAsyncHTTPClient", targets: ["CloudSyncAsyncHTTPClient"]),
  ],
  dependencies: [
    .package(name: "CloudSyncSession", path: "../.."),
    // Nothing of a configuration package, and no more of Foundation than is used here.
    .package(
      url: "https://github.com/hummingbird-project/hummingbird",
      exact: "2.28.1",
      traits: []
    ),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
  ],
  targets: [
    // MARK: The server
    .target(
      name: "CloudSyncServer",
      dependencies: [
        "PostgresStore",
        .product(name: "CloudSyncService", package: "CloudSyncSession"),
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ]
    ),
    .executableTarget(name: "cloudsync-server", dependencies: ["CloudSyncServer"]),

    // MARK: Keys of Apple's service
    // Where there is no CryptoKit.
    .target(
      name: "CloudSyncSigning",
      dependencies: [
        .product(name: "CloudSyncWebServices", package: "CloudSyncSession"),
        .product(name: "Crypto", package: "swift-crypto"),
      ]
    ),
    .testTarget(
      name: "CloudSyncSigningTests",
      dependencies: [
        "CloudSyncSigning",
        .product(name: "CloudSyncWebServices", package: "CloudSyncSession"),
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "Crypto", package: "swift-crypto"),
      ]
    ),

    // MARK: A client without Foundation's
    .target(
      name: "CloudSyncAsyncHTTPClient",
      dependencies: [
        .product(name: "CloudSyncWebServices", package: "CloudSyncSession"),
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ]
    ),

    // MARK: PostgreSQL
    .target(
      name: "PostgresStore",
      dependencies: [
        "CPostgres",
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
        .product(name: "CloudSyncService", package: "CloudSyncSession"),
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
      ]
    ),
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    // A database server for tests and figures, and a process with a store that tests may kill.
    .target(
      name: "PostgresTestServer",
      dependencies: [
        "CPostgres", .product(name: "CloudSyncSession", package: "CloudSyncSession"),
      ],
      path: "Tests/PostgresTestServer"
    ),
    .executableTarget(
      name: "store-probe",
      dependencies: [
        "PostgresStore", "PostgresTestServer",
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
      ],
      path: "Tests/StoreProbe"
    ),
    .testTarget(
      name: "PostgresStoreTests",
      dependencies: [
        "PostgresStore", "PostgresTestServer", "store-probe",
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
      ]
    ),

    // MARK: Figures
    // What the server's store is held against.
    .systemLibrary(name: "SQLiteBaseline"),
    .executableTarget(
      name: "server-benchmarks",
      dependencies: [
        "CloudSyncServer", "cloudsync-server", "SQLiteBaseline",
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
      ],
      path: "Sources/ServerBenchmarks"
    ),
    .executableTarget(
      name: "postgres-benchmarks",
      dependencies: [
        "CPostgres", "PostgresStore", "PostgresTestServer",
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
      ],
      path: "Sources/PostgresBenchmarks"
    ),

    // MARK: Tests
    // A server that kills itself, and more, for the tests.
    .executableTarget(
      name: "test-server",
      dependencies: [
        "CloudSyncServer",
        .product(name: "CloudSyncService", package: "CloudSyncSession"),
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/TestServer"
    ),
    .testTarget(
      name: "CloudSyncServerTests",
      dependencies: [
        "CloudSyncServer", "CloudSyncAsyncHTTPClient", "PostgresStore", "PostgresTestServer",
        "cloudsync-server", "test-server",
        .product(name: "cloudsync", package: "CloudSyncSession"),
        .product(name: "CloudSyncService", package: "CloudSyncSession"),
        .product(name: "CloudSyncWebServices", package: "CloudSyncSession"),
        .product(name: "CloudSyncLocalCloud", package: "CloudSyncSession"),
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "CloudSyncSQLite", package: "CloudSyncSession"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where [.regular, .test, .executable].contains(target.type) {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  ]
}

// The gate takes no warning.
if Context.environment["CLOUDSYNC_STRICT"] == "1" {
  for target in package.targets where [.regular, .test, .executable].contains(target.type) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
}

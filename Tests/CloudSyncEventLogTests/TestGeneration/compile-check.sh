#!/bin/sh
# Generates test files, and compiles and runs them in a package of their own, as a user would.
# Usage: compile-check.sh [folder to work in]
# GENERATED_BUILD_DIR is the folder that the package is built in, if it is to be another one than its own.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=${1:-$(mktemp -d)}
tests="$work/Tests/GeneratedTests"
mkdir -p "$tests"
rm -f "$tests"/*.swift
cat > "$work/Package.swift" <<MANIFEST
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Generated",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "CloudSyncSession", path: "$root")],
  targets: [
    .testTarget(
      name: "GeneratedTests",
      dependencies: [
        .product(name: "CloudSyncSession", package: "CloudSyncSession"),
        .product(name: "CloudSyncLogTestGeneration", package: "CloudSyncSession"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
MANIFEST
cd "$root"
CLOUDSYNC_GENERATE="$tests" swift test --filter TestGeneratorTests.writeFiles
test "$(ls "$tests" | wc -l)" -ge 6
swift test --package-path "$work" --scratch-path "${GENERATED_BUILD_DIR:-$work/.build}"
[ $# -gt 0 ] || rm -r "$work"

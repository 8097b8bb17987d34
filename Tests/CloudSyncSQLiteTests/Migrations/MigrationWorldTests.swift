import Foundation
import Testing

/// Migrations on some devices before others, while all edit.
///
/// `CLOUDSYNC_MIGRATION_SEEDS=1000 swift test --filter MigrationWorldTests` tries more.
@Suite("Devices that migrate one after the other lose nothing, and count everything once")
struct MigrationWorldTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seeds = environment["CLOUDSYNC_MIGRATION_SEEDS"].flatMap(Int.init) ?? 12
  private static let first = environment["CLOUDSYNC_MIGRATION_FROM"].flatMap(Int.init) ?? 0

  @Test("Everybody has what was written last, and every addition")
  func converges() throws {
    for seed in Self.first..<(Self.first + Self.seeds) {
      let world = try MigrationWorld(seed: UInt64(seed))
      let wrongs = try world.run()
      #expect(wrongs == [], "seed \(seed), after:\n\(world.done.joined(separator: "\n"))")
    }
  }
}

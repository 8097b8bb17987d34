import Foundation
import Testing

/// Additions of two devices to the same records, whatever goes wrong.
///
/// `CLOUDSYNC_ADDITION_SEEDS=10000 swift test --filter AdditionTests` tries more.
@Suite("Every addition is made once")
struct AdditionTests {
  private static let seeds =
    ProcessInfo.processInfo.environment["CLOUDSYNC_ADDITION_SEEDS"].flatMap(Int.init) ?? 13

  @Test("Nothing is missing and nothing made twice", arguments: AdditionWorld.Troubles.all)
  func once(_ troubles: AdditionWorld.Troubles) throws {
    for seed in 0..<Self.seeds {
      let wrongs = try AdditionWorld(seed: UInt64(seed), troubles: troubles).run()
      #expect(wrongs == [], "seed \(seed)")
    }
  }
}

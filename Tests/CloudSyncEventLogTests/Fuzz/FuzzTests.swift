import CloudSyncCore
import CloudSyncEventLog
import CloudSyncTestSupport
import Foundation
import Testing

/// Damages real logs and does with them what the tool does: nothing may crash or take long.
///
/// `CLOUDSYNC_FUZZ=100000` has that many logs tried, `CLOUDSYNC_FUZZ_SEED` says from which seed on.
@Suite("Fuzzed logs")
struct FuzzTests {
  /// The logs that are damaged, made once.
  private static let corpus = Result { try FuzzCorpus.make() }

  private static func setting(_ name: String, _ standard: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment[name].flatMap(UInt64.init) ?? standard
  }

  @Test(
    "No damage makes reading, folding or a re-run crash, or leaves an error without its line",
    arguments: 0..<UInt64(4)
  )
  func mutations(part: UInt64) throws {
    let corpus = try Self.corpus.get()
    let count = Self.setting("CLOUDSYNC_FUZZ", UInt64(SuiteSize.count(60, long: 100_000))) / 4
    let first = Self.setting("CLOUDSYNC_FUZZ_SEED", 0) + part * count
    var opened = 0
    var salvaged = 0
    for seed in first..<first + count {
      var mutator = LogMutator(corpus, seed: seed)
      var random = SplitMix64(seed: seed)
      let outcome = FuzzCheck.check(mutator.next(), &random)
      #expect(outcome.complaints == [], "seed \(seed)")
      opened += outcome.isOpen ? 1 : 0
      salvaged += outcome.salvagedEvents
    }

    // The damage must not be so coarse that nothing behind the reader is reached.
    if count >= 250 {
      #expect(opened > Int(count) / 10)
      #expect(salvaged > Int(count))
    }
  }

  @Test("The logs that are damaged are sound, and come by most kinds of events")
  func corpus() throws {
    var names: Set<String> = []
    for lines in try Self.corpus.get() {
      let log = try EventLog(bytes: LineForm.log(lines))
      #expect(log.mismatch == nil && log.hasEnded && log.warnings == [])
      try log.forEachStep { (step) throws(LogError) in
        names.insert("\(step.record.event.name)")
        return true
      }
    }
    #expect(names.count >= 19, "\(names.sorted())")
  }
}

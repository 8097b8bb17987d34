import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

@Suite("Devices change keys again and again")
struct KeyScriptTests {
  @Test(
    "No row is lost, and each has the key that it was given last",
    arguments: KeyScript.Kind.allCases
  )
  func scripts(kind: KeyScript.Kind) throws {
    for seed in 0..<UInt64(SuiteSize.count(2, long: 3_000)) {
      let script = KeyScript(seed: seed, kind: kind)
      if let error = try KeyScriptRun(script).error() {
        let smallest = try smallest(of: script)
        Issue.record(
          "seed \(seed): \(error); smallest: \(smallest.turns), of \(smallest.rows) rows"
        )
      }
    }
  }

  /// A script without the turns and steps that do not matter to what it finds.
  private func smallest(of script: KeyScript) throws -> KeyScript {
    var script = script
    var isSmaller = true
    while isSmaller {
      isSmaller = false
      for turn in script.turns.indices.reversed() {
        for smaller in script.without(turn) where try KeyScriptRun(smaller).error() != nil {
          script = smaller
          isSmaller = true
          break
        }
      }
    }
    return script
  }
}

extension KeyScript {
  /// The script without a turn, or without a step of it.
  fileprivate func without(_ turn: Int) -> [KeyScript] {
    var whole = self
    whole.turns.remove(at: turn)
    guard case .edit(let device, let steps, let isOne) = turns[turn], steps.count > 1 else {
      return [whole]
    }
    return [whole]
      + steps.indices.map { place in
        var (script, rest) = (self, steps)
        rest.remove(at: place)
        script.turns[turn] = .edit(device: device, rest, isOneTransaction: isOne)
        return script
      }
  }
}

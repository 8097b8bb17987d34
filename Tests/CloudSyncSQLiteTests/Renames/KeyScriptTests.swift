import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

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

  #if DEBUG
  /// What takes rows for one that devices have inserted under one key.
  enum Mistake: CaseIterable, Sendable {
    /// A change of a key takes along whatever was inserted under it before.
    case movesOtherRows
    /// A row is known by the key that it was inserted with, whenever that was.
    case knowsKeysOnly

    func reduce(
      _ state: inout RecordState,
      _ event: RecordEvent,
      _ rules: RowRules
    ) -> [RecordAction] {
      guard case .edited(let edit) = event else {
        return state.reduceSoundly(event, rules: rules)
      }
      return state.reduceSoundly(.edited(mistaken(edit)), rules: rules)
    }

    private func mistaken(_ edit: RowEdit) -> RowEdit {
      switch (self, edit) {
      case (.movesOtherRows, .renamed(var moves)):
        for place in moves.indices { moves[place].first = .zero }
        return .renamed(moves)
      case (.knowsKeysOnly, .renamed(var moves)):
        for place in moves.indices { moves[place].row = known(moves[place].row) }
        return .renamed(moves)
      case (.knowsKeysOnly, .moved(let columns, var origin, let time)):
        origin.row = known(origin.row)
        return .moved(columns, from: origin, at: time)
      default: return edit
      }
    }

    private func known(_ row: RowOrigin) -> RowOrigin { RowOrigin(name: row.name, created: .zero) }
  }

  @Test("Scripts find what takes rows for one that are two", arguments: Mistake.allCases)
  func mistakes(mistake: Mistake) throws {
    let seed = try RecordMutation.$reduce.withValue({ mistake.reduce(&$0, $1, $2) }) {
      try (0..<40 as Range<UInt64>)
        .first { try KeyScriptRun(KeyScript(seed: $0, kind: .shared)).error() != nil }
    }
    #expect(seed != nil, "no script of 40 shows it")
  }
  #endif

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

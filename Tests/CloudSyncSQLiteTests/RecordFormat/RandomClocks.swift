import CloudSyncCore

@testable import CloudSyncSQLite

/// Clocks of any content, from a seed.
struct RandomClocks {
  var generator: SplitMix64
  static let names = ["", "a", "b c", "count", "id", "n", "photo", "title", "zz", "é"]

  init(seed: UInt64) { generator = SplitMix64(seed: seed) }

  mutating func below(_ bound: Int) -> Int { Int(generator.below(UInt64(bound))) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  mutating func number() -> Int64 {
    switch below(6) {
    case 0: .min
    case 1: .max
    case 2: 0
    case 3: Int64(below(200)) - 100
    default: Int64(bitPattern: generator.next())
    }
  }

  /// A time that is near to others more often than not.
  mutating func time() -> HybridTime {
    switch below(8) {
    case 0: HybridTime(rawValue: number())
    case 1: .zero
    case 2: HybridTime(rawValue: 0x0191_0000_0000_0000)
    default:
      HybridTime(
        rawValue: (0x0191_0000_0000 + Int64(below(100_000_000))) << 16 | Int64(below(2) * below(9))
      )
    }
  }

  mutating func sum() -> CounterSum {
    chance(50) ? .whole(number()) : .real(Double(bitPattern: generator.next()))
  }

  mutating func row() -> RowOrigin {
    RowOrigin(name: Self.names[below(Self.names.count)], created: time())
  }

  mutating func life() -> RowLife {
    RowLife(created: time(), row: chance(30) ? row() : nil)
  }

  mutating func moves() -> [RowMove] {
    var clock = RecordClock()
    for _ in 0...below(3) {
      let name = Self.names[below(Self.names.count)]
      clock.note(moves: [
        RowMove(
          row: row(),
          isOfInserted: chance(70),
          since: time(),
          first: time(),
          life: time(),
          time: time(),
          arrival: time(),
          ended: time(),
          name: name,
          isUnion: chance(20),
          isFollowing: chance(20)
        )
      ])
    }
    return clock.moves
  }

  mutating func clock() -> RecordClock {
    var clock = RecordClock()
    clock.created = time()
    if chance(30) { clock.deleted = time() }
    if chance(20) { clock.ended = time() }
    if chance(20) { clock.row = row() }
    if chance(20) { clock.first = time() }
    if chance(20) {
      let endings = (0...below(2)).map { _ in RowEnding(row: row(), life: time(), time: time()) }
      clock.note(endings: endings)
    }
    if chance(20) { clock.purge = PurgeMark(writer: number(), since: number()) }
    let shared = chance(50) ? clock.created : time()
    let (some, equal) = (chance(60) ? 100 : 60, below(4) * 33)
    for name in Self.names where chance(some) {
      clock.columns.append(ColumnTime(name: name, time: chance(equal) ? shared : time()))
    }
    if chance(30) {
      for place in clock.columns.indices where chance(30) { clock.columns[place].life = life() }
    }
    if chance(20) { clock.moves = moves() }
    guard chance(40) else { return clock }
    for name in Self.names where chance(30) {
      for writer in [Int64.min, -3, 0, 7, .max] where chance(40) {
        clock.shares.append(CounterShare(column: name, writer: writer, time: time(), sum: sum()))
      }
      for writer in [nil, Int64.min, 0, 9] where chance(40) {
        clock.seen.append(SeenTime(column: name, writer: writer, time: time()))
      }
    }
    return clock
  }
}

import CloudSyncCore
import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

@Suite("The coded form of a clock")
struct ClockCodingTests {
  /// Without numbers, with some, and with more than there are columns.
  private let codings = [
    ClockCoding(), ClockCoding(numbers: ColumnNumbers(["title", "id", "dropped", "a"])),
    ClockCoding(numbers: ColumnNumbers(RandomClocks.names.reversed() + ["later"])),
  ]

  @Test("Every clock comes back, with numbers and without")
  func roundTrips() throws {
    var random = RandomClocks(seed: 1)
    for _ in 0..<SuiteSize.count(1_000, long: 3_000) {
      let clock = random.clock()
      for coding in codings {
        let read = try coding.clock(from: coding.bytes(of: clock))
        guard read == clock else { return #expect(read == clock) }
      }
    }
  }

  @Test("A clock is read after columns were added and dropped")
  func growingNumbers() throws {
    var random = RandomClocks(seed: 2)
    var numbers = ColumnNumbers(["id", "title", "n"])
    let clocks = (0..<100)
      .map { _ in
        let clock = random.clock()
        return (clock, ClockCoding(numbers: numbers).bytes(of: clock))
      }
    numbers.add(["a", "id", "zz", "b c"])

    #expect(numbers.names == ["id", "title", "n", "a", "zz", "b c"])
    #expect(numbers.number(of: "n") == 2 && numbers.number(of: "q") == nil)
    for (clock, bytes) in clocks {
      #expect(try ClockCoding(numbers: numbers).clock(from: bytes) == clock)
    }
  }

  @Test("Of no clock a part is a clock, nor is more than one")
  func truncations() {
    var random = RandomClocks(seed: 3)
    for _ in 0..<SuiteSize.count(20, long: 2_000) {
      let clock = random.clock()
      for coding in codings {
        let bytes = coding.bytes(of: clock)
        for count in bytes.indices {
          #expect(throws: CodedError.self) { try coding.clock(from: Array(bytes[..<count])) }
        }
        #expect(throws: CodedError.self) { try coding.clock(from: bytes + [0]) }
      }
    }
  }

  @Test("Bytes that are changed at random give a clock of the same rules, or an error")
  func mutations() throws {
    var random = RandomClocks(seed: 4)
    for round in 0..<SuiteSize.count(3_000, long: 10_000) {
      let coding = codings[round % codings.count]
      var bytes = coding.bytes(of: random.clock())
      for _ in 0...random.below(3) where !bytes.isEmpty {
        let place = random.below(bytes.count)
        switch random.below(4) {
        case 0: bytes[place] ^= 1 << UInt8(random.below(8))
        case 1: bytes[place] = UInt8(truncatingIfNeeded: random.generator.next())
        case 2: bytes.remove(at: place)
        default: bytes.insert(0xff, at: place)
        }
      }
      if round % 4 == 0 {
        bytes =
          [1 + UInt8(random.below(2))]
          + (0..<random.below(40)).map { _ in UInt8(random.below(256)) }
      }
      guard let clock = try? coding.clock(from: bytes) else { continue }
      let names = clock.columns.map(\.name)
      #expect(zip(names, names.dropFirst()).allSatisfy { UTF8Bytes.order($0, $1) < 0 })
      let again = try coding.clock(from: coding.bytes(of: clock))
      #expect(again == clock)
    }
  }

  @Test(
    "Lengths, counts and numbers that cannot be cost nothing",
    arguments: [
      [], [0], [2, 0], [1], [1, 8, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
      [1, 8, 0, 1, 0xff, 0xff, 0xff, 0x7f], [1, 0, 50, 0], [1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f],
      [1, 64, 0, 0, 0xff, 0xff, 0xff, 0x7f], [1, 64, 0, 0, 1, 0], [1, 64, 0, 0, 1, 99, 0, 0, 0, 0],
      [1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
      [1, 0, 0, 1, 0xff, 0xff, 0x7f],
      // Moves that are none, too many, of no known kind, and not in order.
      [2, 0, 0, 0, 0], [2, 0, 0, 0, 0xff, 0xff, 0x7f], [2, 0, 0, 0, 1, 1, 0x61, 9, 0, 0, 0, 0],
      [2, 0, 0, 0, 2, 1, 0x62, 0, 0, 0, 0, 0, 1, 0x61, 0, 0, 0, 0, 0], [2, 0, 0, 0, 1, 1, 0x61, 0],
      [1, 8, 0, 2, 1, 0x61, 1, 0x61, 0], [1, 8, 0, 1, 1, 0xff, 0], [1, 36, 2, 7, 0],
    ] as [[UInt8]]
  )
  func hostile(bytes: [UInt8]) {
    for coding in codings {
      #expect(throws: CodedError.self) { try coding.clock(from: bytes) }
    }
  }

  @Test("A row's clock is short: 10 bytes if its columns were set at once")
  func sizes() {
    let names = ["id"] + (1...8).map { "column\($0)" }
    let coding = ClockCoding(numbers: ColumnNumbers(names))
    var clock = RecordClock()
    clock.created = HybridTime(rawValue: 1_790_000_000_000 << 16)
    let set = { (time: (Int) -> HybridTime) in
      names.sorted().enumerated().map { ColumnTime(name: $1, time: time($0)) }
    }
    clock.columns = set { _ in clock.created }
    #expect(coding.bytes(of: clock).count == 10)
    #expect(ClockCoding().bytes(of: clock).count == 10 + 1 + 9 * 8 - 5)

    // Within a thousand in a millisecond there is a counter.
    clock.created = HybridTime(rawValue: clock.created.rawValue + 999)
    clock.columns = set { _ in clock.created }
    #expect(coding.bytes(of: clock).count == 12)

    // One edit a day later, and nine of them over nine months.
    clock.columns[3].time = HybridTime(rawValue: 1_790_086_400_000 << 16)
    #expect(coding.bytes(of: clock).count == 12 + 2 + 5)
    clock.columns = set { HybridTime(rawValue: (1_790_000_000_000 + Int64($0) << 31) << 16 | 1) }
    #expect(coding.bytes(of: clock).count <= 12 + 65)
  }
}

import CloudSyncCore

/// The coded form of a clock: a few bytes for a row whose columns were all set at once.
///
/// | part | form |
/// |---|---|
/// | version | one byte, 1; two more if there are references, eight if there are lives, sixteen if there are moves |
/// | flags | one byte, see ``ClockFlags`` |
/// | names of the columns | see ``ClockColumns``: as numbers where they have some, else as text |
/// | `created` | a time, see ``ClockWriter``; all other times are differences to it |
/// | `deleted` | a time |
/// | purge mark | writer, time |
/// | the columns' shared time | a time; if left out, it is `created` |
/// | own times | a bit for each column, then a time for each that is set |
/// | shares | a count, then for each: column, writer, time, kind of the sum, sum |
/// | what was seen | a count, then for each: column, writer if it has one, time |
/// | references | a count, then for each: column, when the row got its key that it refers to, which row it is if it was given that |
/// | lives | kind; the first one of the row, if it has several; the last one that has ended, if nothing else tells it; which row was given the key; see ``RowEnding`` |
/// | moves | a count, then for each: name, which row, kind, since, first, life, time, arrival, ended |
///
/// All but the first four parts are left out if there is nothing to be told.
struct ClockCoding: Sendable {
  /// The numbers by which columns are called; without them they are called by name, as in the cloud.
  let numbers: ColumnNumbers?

  static let version: UInt8 = 1
  /// What is added to the version of clocks that tell of moves, references, and lives.
  static let moves: UInt8 = 16
  static let lives: UInt8 = 8
  static let references: UInt8 = 2

  init(numbers: ColumnNumbers? = nil) { self.numbers = numbers }

  // MARK: Writing

  /// Codes a clock, which ``clock(from:)`` reads to equality, as long as columns keep their numbers.
  func bytes(of clock: RecordClock) -> [UInt8] {
    var writer = ClockWriter()
    var flags = ClockColumns.write(clock.columns.map(\.name), numbers: numbers, to: &writer)
    writer.write(time: clock.created, from: .zero)
    if clock.deleted != .zero {
      flags.insert(.deleted)
      writer.write(time: clock.deleted, from: clock.created)
    }
    if let purge = clock.purge {
      flags.insert(.purge)
      writer.write(signed: purge.writer)
      writer.write(signed: purge.since)
    }
    flags.formUnion(write(timesOf: clock, to: &writer))
    var parts = ClockParts(numbers: numbers, columns: clock.columns, created: clock.created)
    if !clock.shares.isEmpty {
      flags.insert(.shares)
      parts.write(clock.shares, to: &writer)
    }
    if !clock.seen.isEmpty {
      flags.insert(.seen)
      parts.write(clock.seen, to: &writer)
    }
    var version = Self.version
    if clock.columns.contains(where: { $0.life != nil }) {
      version += Self.references
      parts.writeLives(to: &writer)
    }
    if clock.isArrival || !clock.endings.isEmpty || clock.first != nil
      || clock.ended != Self.impliedEnd(of: clock)
    {
      version += Self.lives
      parts.write(livesOf: clock, implied: Self.impliedEnd(of: clock), to: &writer)
    }
    if !clock.moves.isEmpty {
      version += Self.moves
      parts.write(clock.moves, to: &writer)
    }
    return [version, flags.rawValue] + writer.bytes
  }

  /// The life that has ended last, where nothing else is told: the row's own, or, if it lives, the one that was given
  /// another key.
  private static func impliedEnd(of clock: RecordClock) -> HybridTime {
    clock.deleted != .zero && clock.deleted >= clock.created ? clock.created : clock.deleted
  }

  private func write(timesOf clock: RecordClock, to writer: inout ClockWriter) -> ClockFlags {
    var flags = ClockFlags()
    let shared = Self.sharedTime(of: clock)
    if shared != clock.created {
      flags.insert(.sharedTime)
      writer.write(time: shared, from: clock.created)
    }
    guard clock.columns.contains(where: { $0.time != shared }) else { return flags }
    flags.insert(.ownTimes)
    writer.write(bitmap: clock.columns.map { $0.time != shared })
    for column in clock.columns where column.time != shared {
      writer.write(time: column.time, from: clock.created)
    }
    return flags
  }

  /// The time that most columns have; the time of the creation if no other one has more.
  private static func sharedTime(of clock: RecordClock) -> HybridTime {
    guard let first = clock.columns.first?.time else { return clock.created }
    if clock.columns.allSatisfy({ $0.time == first }) { return first }
    var best = (time: clock.created, count: 0)
    best.count = clock.columns.reduce(0) { $0 + ($1.time == clock.created ? 1 : 0) }
    var run = (time: first, count: 0)
    for time in clock.columns.map(\.time).sorted() {
      run = time == run.time ? (time, run.count + 1) : (time, 1)
      // Left out, the shared time costs nothing: another one has to save two others.
      if run.count > best.count, run.count > 1 { best = run }
    }
    return best.time
  }

  // MARK: Reading

  /// Whether a coded clock has moves, as far as its first byte tells.
  static func tellsOfMoves(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.first.map { ($0 &- version) & moves != 0 } ?? false
  }

  /// Reads a clock.
  ///
  /// - Throws: An error for all bytes that code no clock, whatever they are.
  func clock(from bytes: [UInt8]) throws(CodedError) -> RecordClock {
    let result = bytes.withUnsafeBytes { buffer in
      Result { () throws(CodedError) in
        var reader = ClockReader(buffer)
        return try clock(from: &reader)
      }
    }
    return try result.get()
  }

  private func clock(from reader: inout ClockReader) throws(CodedError) -> RecordClock {
    let version = try reader.byte()
    let has = version &- Self.version
    guard has & ~(Self.moves | Self.references | Self.lives) == 0 else {
      throw reader.failure("the version is unknown")
    }
    let flags = ClockFlags(rawValue: try reader.byte())
    let names = try ClockColumns.read(from: &reader, flags: flags, numbers: numbers)
    var clock = RecordClock()
    clock.created = try reader.time(from: .zero)
    if flags.contains(.deleted) { clock.deleted = try reader.time(from: clock.created) }
    if flags.contains(.purge) {
      clock.purge = PurgeMark(writer: try reader.signed(), since: try reader.signed())
    }
    var shared = clock.created
    if flags.contains(.sharedTime) { shared = try reader.time(from: clock.created) }
    clock.columns = names.map { ColumnTime(name: $0, time: shared) }
    if flags.contains(.ownTimes) {
      let bits = try reader.bitmap(of: names.count)
      for place in names.indices where bits.hasBit(place) {
        clock.columns[place].time = try reader.time(from: clock.created)
      }
    }
    var parts = ClockParts(numbers: numbers, columns: clock.columns, created: clock.created)
    if flags.contains(.shares) { clock.shares = try parts.readShares(from: &reader) }
    if flags.contains(.seen) { clock.seen = try parts.readSeen(from: &reader) }
    if has & Self.references != 0 { try parts.readLives(into: &clock.columns, from: &reader) }
    clock.ended = Self.impliedEnd(of: clock)
    if has & Self.lives != 0 { try parts.readLives(of: &clock, from: &reader) }
    if has & Self.moves != 0 { clock.moves = try parts.readMoves(from: &reader) }
    try reader.end()
    return clock
  }
}

import CloudSyncCore

/// The parts of a coded clock that are told of single columns: counters' shares, what a deleter had seen, and of which rows
/// references are.
///
/// A column is 0 if it is the one before, 1 if its name follows, or two more than its number: that of the table,
/// or, where columns are called by name, its place among the clock's columns.
struct ClockParts {
  let numbers: ColumnNumbers?
  let columns: [ColumnTime]
  let created: HybridTime
  private var last: String?

  init(numbers: ColumnNumbers?, columns: [ColumnTime], created: HybridTime) {
    self.numbers = numbers
    self.columns = columns
    self.created = created
  }

  // MARK: Writing

  mutating func write(_ shares: [CounterShare], to writer: inout ClockWriter) {
    last = nil
    writer.write(count: shares.count)
    for share in shares {
      write(column: share.column, to: &writer)
      writer.write(signed: share.writer)
      writer.write(time: share.time, from: created)
      switch share.sum {
      case .whole(let number):
        writer.write(byte: 0)
        writer.write(signed: number)
      case .real(let number):
        writer.write(byte: 1)
        writer.write(bits: number.bitPattern)
      }
    }
  }

  mutating func write(_ seen: [SeenTime], to writer: inout ClockWriter) {
    last = nil
    writer.write(count: seen.count)
    for one in seen {
      write(column: one.column, to: &writer)
      writer.write(byte: one.writer == nil ? 0 : 1)
      if let number = one.writer { writer.write(signed: number) }
      writer.write(time: one.time, from: created)
    }
  }

  func write(_ moves: [RowMove], to writer: inout ClockWriter) {
    writer.write(count: moves.count)
    for move in moves {
      writer.write(text: move.name)
      write(move.row, to: &writer)
      writer.write(
        byte: (move.isUnion ? 1 : 0) | (move.isFollowing ? 2 : 0) | (move.isOfInserted ? 4 : 0)
      )
      for time in [move.since, move.first, move.life, move.time, move.arrival, move.ended] {
        writer.write(time: time, from: created)
      }
    }
  }

  /// Writes of which rows the columns' references are.
  mutating func writeLives(to writer: inout ClockWriter) {
    last = nil
    let told = columns.filter { $0.life != nil }
    writer.write(count: told.count)
    for column in told {
      write(column: column.name, to: &writer)
      guard let life = column.life else { continue }
      writer.write(time: life.created, from: created)
      writer.write(byte: life.row == nil ? 0 : 1)
      if let row = life.row { write(row, to: &writer) }
    }
  }

  /// Writes which row was given the key, which have been and were deleted, which life of an inserted one has ended last
  /// if that is another one than is implied, and with which one the present row has begun.
  func write(livesOf clock: RecordClock, implied: HybridTime, to writer: inout ClockWriter) {
    let isTold = clock.ended != implied
    writer.write(
      byte: (clock.isArrival ? 1 : 0) | (isTold ? 2 : 0) | (clock.endings.isEmpty ? 0 : 4)
        | (clock.first == nil ? 0 : 8)
    )
    if let first = clock.first { writer.write(time: first, from: created) }
    if isTold { writer.write(time: clock.ended, from: created) }
    if let row = clock.row { write(row, to: &writer) }
    if clock.endings.isEmpty { return }
    writer.write(count: clock.endings.count)
    for ending in clock.endings {
      write(ending.row, to: &writer)
      writer.write(time: ending.life, from: created)
      writer.write(time: ending.time, from: created)
    }
  }

  private mutating func write(column: String, to writer: inout ClockWriter) {
    defer { last = column }
    if let last, UTF8Bytes.equal(last, column) { return writer.write(byte: 0) }
    let number = numbers == nil ? columns.place(of: column) : numbers?.number(of: column)
    if let number { return writer.write(count: number + 2) }
    writer.write(byte: 1)
    writer.write(text: column)
  }

  // MARK: Reading

  mutating func readShares(from reader: inout ClockReader) throws(CodedError) -> [CounterShare] {
    last = nil
    var shares: [CounterShare] = []
    for _ in 0..<(try reader.count()) {
      let column = try readColumn(from: &reader)
      let (number, time) = (try reader.signed(), try reader.time(from: created))
      let sum: CounterSum
      switch try reader.byte() {
      case 0: sum = .whole(try reader.signed())
      case 1: sum = .real(Double(bitPattern: try reader.bits()))
      default: throw reader.failure("a sum is of no known kind")
      }
      let share = CounterShare(column: column, writer: number, time: time, sum: sum)
      if let last = shares.last, !last.precedes(share) {
        throw reader.failure("shares are not in order")
      }
      shares.append(share)
    }
    return shares
  }

  mutating func readSeen(from reader: inout ClockReader) throws(CodedError) -> [SeenTime] {
    last = nil
    var seen: [SeenTime] = []
    for _ in 0..<(try reader.count()) {
      let column = try readColumn(from: &reader)
      var number: Int64?
      switch try reader.byte() {
      case 0: break
      case 1: number = try reader.signed()
      default: throw reader.failure("it is neither said who has written nor not")
      }
      let one = SeenTime(column: column, writer: number, time: try reader.time(from: created))
      if let last = seen.last, !last.precedes(one) {
        throw reader.failure("what was seen is not in order")
      }
      seen.append(one)
    }
    return seen
  }

  func readMoves(from reader: inout ClockReader) throws(CodedError) -> [RowMove] {
    var moves: [RowMove] = []
    for _ in 0..<(try reader.count()) {
      let name = try reader.text()
      let row = try readOrigin(from: &reader)
      let kind = try reader.byte()
      guard kind < 8 else { throw reader.failure("a move is of no known kind") }
      let move = RowMove(
        row: row,
        isOfInserted: kind & 4 == 4,
        since: try reader.time(from: created),
        first: try reader.time(from: created),
        life: try reader.time(from: created),
        time: try reader.time(from: created),
        arrival: try reader.time(from: created),
        ended: try reader.time(from: created),
        name: name,
        isUnion: kind & 1 == 1,
        isFollowing: kind & 2 == 2
      )
      if let last = moves.last, !last.precedes(move) {
        throw reader.failure("moves are not in order")
      }
      moves.append(move)
    }
    if moves.isEmpty { throw reader.failure("there are no moves") }
    return moves
  }

  func readLives(of clock: inout RecordClock, from reader: inout ClockReader) throws(CodedError) {
    let kind = try reader.byte()
    guard kind > 0, kind < 16 else { throw reader.failure("a life is of no known kind") }
    if kind & 8 == 8 { clock.first = try reader.time(from: created) }
    if kind & 2 == 2 {
      let ended = try reader.time(from: created)
      if ended == clock.ended { throw reader.failure("the life that has ended is told twice") }
      clock.ended = ended
    }
    if kind & 1 == 1 { clock.row = try readOrigin(from: &reader) }
    if kind & 4 == 4 { clock.endings = try readEndings(from: &reader) }
  }

  private func write(_ row: RowOrigin, to writer: inout ClockWriter) {
    writer.write(text: row.name)
    writer.write(time: row.created, from: created)
  }

  private func readOrigin(from reader: inout ClockReader) throws(CodedError) -> RowOrigin {
    RowOrigin(name: try reader.text(), created: try reader.time(from: created))
  }

  private func readEndings(from reader: inout ClockReader) throws(CodedError) -> [RowEnding] {
    var endings: [RowEnding] = []
    for _ in 0..<(try reader.count()) {
      let row = try readOrigin(from: &reader)
      let life = try reader.time(from: created)
      let ending = RowEnding(row: row, life: life, time: try reader.time(from: created))
      if let last = endings.last, !last.precedes(ending) {
        throw reader.failure("the rows that were deleted are not in order")
      }
      endings.append(ending)
    }
    if endings.isEmpty { throw reader.failure("there are no rows that were deleted") }
    return endings
  }

  /// Reads of which rows references are, into the clock's columns.
  mutating func readLives(
    into columns: inout [ColumnTime],
    from reader: inout ClockReader
  ) throws(CodedError) {
    last = nil
    let count = try reader.count()
    if count == 0 { throw reader.failure("there are no references") }
    for _ in 0..<count {
      let former = last
      let name = try readColumn(from: &reader)
      guard let place = columns.place(of: name) else {
        throw reader.failure("a reference is of a column that is not there")
      }
      if let former, UTF8Bytes.order(former, name) >= 0 {
        throw reader.failure("references are not in order")
      }
      var life = RowLife(created: try reader.time(from: created))
      switch try reader.byte() {
      case 0: break
      case 1: life.row = try readOrigin(from: &reader)
      default: throw reader.failure("it is neither told nor not which row a reference is of")
      }
      columns[place].life = life
    }
  }

  private mutating func readColumn(from reader: inout ClockReader) throws(CodedError) -> String {
    let reference = try reader.unsigned()
    let known = numbers?.names.count ?? columns.count
    let name: String
    switch reference {
    case 0:
      guard let last else { throw reader.failure("there is no column before the first") }
      name = last
    case 1: name = try reader.text()
    default:
      guard reference - 2 < UInt64(known) else {
        throw reader.failure("a column has a number that is not known")
      }
      let number = Int(reference - 2)
      name = numbers?.names[number] ?? columns[number].name
    }
    last = name
    return name
  }
}

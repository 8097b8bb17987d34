import CloudSyncCore
import CloudSyncSQLiteSupport

/// What rows that were there held in columns when these were added, by table and column.
struct Fills: Sendable, Hashable {
  private(set) var tables: [String: [String: SQLiteValue]] = [:]

  func value(of column: String, in table: String) -> SQLiteValue {
    tables[table]?[column] ?? .null
  }

  /// Adds a fill; false if the column has another one.
  mutating func add(_ fill: TableDelta.Fill, of table: String) -> Bool {
    if let known = tables[table]?[fill.column] { return known == fill.value }
    tables[table, default: [:]][fill.column] = fill.value
    return true
  }
}

/// Two numbers of 64 bits that bytes are mixed into, each with multiplications of its own.
struct MixingHash: Sendable {
  private(set) var first: UInt64
  private(set) var second: UInt64

  init(seed: UInt64) {
    first = seed ^ 0x243f_6a88_85a3_08d3
    second = seed ^ 0x1319_8a2e_0370_7344
  }

  @inline(__always)
  mutating func mix(_ word: UInt64) {
    first = Self.fold(one: first ^ word, 0x9e37_79b9_7f4a_7c15) &+ word.byteSwapped
    second = Self.fold(one: second ^ word.byteSwapped, 0xd6e8_feb8_6659_fd93) &+ word
  }

  @inline(__always)
  private static func fold(one: UInt64, _ other: UInt64) -> UInt64 {
    let product = (one ^ 0xa076_1d64_78bd_642f).multipliedFullWidth(by: other)
    return product.high ^ product.low
  }

  /// Mixes bytes with their count, eight at a time, the lowest byte first.
  mutating func mix(_ bytes: UnsafeRawBufferPointer) {
    mix(UInt64(bytes.count))
    var index = 0
    while index + 8 <= bytes.count {
      mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
      index += 8
    }
    guard index < bytes.count else { return }
    var tail: UInt64 = 0
    for offset in index..<bytes.count {
      tail |= UInt64(bytes[offset]) << UInt64(8 * (offset - index))
    }
    mix(tail)
  }

  mutating func mix(_ text: String) { UTF8Bytes.with(text) { mix($0) } }

  mutating func mix(_ value: SQLiteValue) {
    switch value {
    case .null: mix(UInt64(ValueTag.null))
    case .integer(let number):
      mix(UInt64(ValueTag.integer))
      mix(UInt64(bitPattern: number))
    case .real(let number):
      mix(UInt64(ValueTag.real))
      mix(number.bitPattern)
    case .text(let text):
      mix(UInt64(ValueTag.text))
      mix(text)
    case .malformedText(let bytes):
      mix(UInt64(ValueTag.text))
      bytes.withUnsafeBytes { mix($0) }
    case .blob(let bytes):
      mix(UInt64(ValueTag.blob))
      bytes.withUnsafeBytes { mix($0) }
    }
  }

  var sum: StateHash {
    StateHash(
      high: Self.fold(one: first, 0xff51_afd7_ed55_8ccd),
      low: Self.fold(one: second, 0xc4ce_b9fe_1a85_ec53)
    )
  }
}

/// The hashes of one table's rows.
struct TableHash {
  private let table: MixingHash

  init(_ name: String) {
    var hash = MixingHash(seed: 1)
    hash.mix(name)
    table = hash
  }

  /// That a row is there.
  func row(_ key: RowKey) -> (state: MixingHash, hash: StateHash) {
    var state = table
    key.bytes.withUnsafeBytes { state.mix($0) }
    return (state, state.sum)
  }

  /// That a row has a value in a column.
  func cell(_ column: MixingHash, _ value: SQLiteValue, row: MixingHash) -> StateHash {
    var state = row
    state.mix(column.first)
    state.mix(column.second)
    state.mix(value)
    return state.sum
  }

  static func column(_ name: String) -> MixingHash {
    var hash = MixingHash(seed: 2)
    hash.mix(name)
    return hash
  }
}

extension StateHash {
  /// The hash of the state that changes lead to.
  ///
  /// - Parameters:
  ///   - delta: The changes.
  ///   - before: What the hash of this state leaves out.
  ///   - after: What that of the other state leaves out; no column of both is left out of one alone.
  /// - Returns: The other state's hash.
  func adding(
    _ delta: StateDelta,
    from before: HashFrame = HashFrame(),
    to after: HashFrame = HashFrame()
  ) -> StateHash {
    var sum = self
    for table in delta.tables {
      let hash = TableHash(table.name)
      var columns: [String: MixingHash] = [:]
      for row in table.rows {
        let (state, presence) = hash.row(row.key)
        if row.kind == .insert { sum += presence }
        if row.kind == .delete { sum -= presence }
        if row.kind != .update {
          // A row that says nothing of a column has NULL there, and not what others were filled with.
          let fills = row.kind == .insert ? after.fills : before.fills
          let nulls = fills.hash(of: row, in: table.name, hash: hash, state: state)
          sum = row.kind == .insert ? sum + nulls : sum - nulls
        }
        for cell in row.cells {
          let column: MixingHash
          if let known = columns[cell.column] {
            column = known
          } else {
            column = TableHash.column(cell.column)
            columns[cell.column] = column
          }
          if row.kind != .insert, before.counts(cell.old, cell.column, in: table.name) {
            sum -= hash.cell(column, cell.old, row: state)
          }
          if row.kind != .delete, after.counts(cell.new, cell.column, in: table.name) {
            sum += hash.cell(column, cell.new, row: state)
          }
        }
      }
    }
    return sum
  }
}

extension HashFrame {
  /// Whether a cell is part of the hash.
  fileprivate func counts(_ value: SQLiteValue, _ column: String, in table: String) -> Bool {
    value != fills.value(of: column, in: table) && !lacks(column: column, of: table)
  }
}

extension Fills {
  /// The hash of the columns that a row has NULL in and others were filled in.
  fileprivate func hash(
    of row: RowDelta,
    in table: String,
    hash: TableHash,
    state: MixingHash
  ) -> StateHash {
    guard let columns = tables[table] else { return .zero }
    return columns.reduce(.zero) { sum, fill in
      fill.value == .null || row.cell(fill.key) != nil
        ? sum : sum + hash.cell(TableHash.column(fill.key), .null, row: state)
    }
  }
}

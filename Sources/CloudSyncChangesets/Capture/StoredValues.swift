import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension TrackedTable {
  /// Whether a column may make another value of one that is written into it: SQLite's rules of affinity.
  func mayConvert(_ value: SQLiteValue, in column: String) -> Bool {
    guard let affinity = affinities[column] else { return false }
    return switch (affinity, value) {
    case (.text, .integer), (.text, .real), (.real, .integer): true
    case (.integer, .real(let number)), (.numeric, .real(let number)):
      number == number.rounded(.towardZero)
    // SQLite stores whole reals as integers, which have no sign of zero.
    case (.real, .real(let number)): number == 0 && number.sign == .minus
    case (.integer, .text(let text)), (.numeric, .text(let text)), (.real, .text(let text)):
      text.mayBeNumber
    default: false
    }
  }
}

extension String {
  /// Whether SQLite may take it for a number: digits with signs, a point, an exponent and space around them, and nothing else.
  fileprivate var mayBeNumber: Bool {
    var last: UInt8?
    for byte in utf8 {
      switch byte {
      case 0x30...0x39, 0x2e, 0x09...0x0d, 0x20: break
      case 0x45, 0x65: if last == nil { return false }
      case 0x2b, 0x2d:
        // A date has signs between its digits.
        if let last, (0x30...0x39).contains(last) || last == 0x2e { return false }
      default: return false
      }
      last = byte
    }
    return last != nil
  }
}

extension TableSchema.Column.Affinity {
  /// What a column makes of a value that is compared with its own, as that of a foreign key is: but for whole reals, which are
  /// equal to integers.
  func compared(_ value: SQLiteValue) -> SQLiteValue {
    switch (self, value) {
    case (.text, .integer(let number)): return .text("\(number)")
    case (.text, .real(let number)): return .text("\(number)")
    case (.integer, .text(let text)), (.numeric, .text(let text)), (.real, .text(let text)):
      guard text.mayBeNumber else { return value }
      let digits = text.utf8.filter { $0 != 0x20 && !(0x09...0x0d).contains($0) }
      let number = String(decoding: digits, as: UTF8.self)
      if let integer = Int64(number) { return .integer(integer) }
      return Double(number).map { .real($0) } ?? value
    default: return value
    }
  }
}

import CloudSyncCore
package import CloudSyncSQLiteSupport

/// The name of a row's record: its key, a colon, and its table's record type.
///
/// A key of one TEXT column is its own text, if that is printable ASCII, begins with neither `_`
/// nor `~`, and leaves the name within 255 bytes. Any other key is `~` and its values, with commas
/// between them:
///
/// | value | form |
/// |---|---|
/// | NULL | `n` |
/// | a whole number, also one stored as a real | `i` and its decimal digits |
/// | another real | `r` and its 64 bits in hexadecimal |
/// | TEXT | `t` and its UTF-8, with `%`, `,` and what is not printable ASCII as `%` and two digits |
/// | TEXT that is no UTF-8 | `m` and its bytes in hexadecimal |
/// | BLOB | `b` and its bytes in hexadecimal |
///
/// What is too long so is `~h` and the SHA-256 of that form; the key's columns travel as fields
/// too, so that nothing is lost. Keys that differ for SQLite (under BINARY) have different names.
package struct RecordName: Sendable, Hashable {
  /// What a name tells about a key.
  package enum Key: Sendable, Hashable {
    /// The values of the key's columns; a real that is a whole number comes back as an integer.
    case values([SQLiteValue])
    /// Nothing but a digest: the record's fields have the key.
    case digest
  }

  /// The table's name.
  package let table: String
  /// The row's key.
  package let key: Key

  /// Returns the name of a row's record; nil if the table's name is too long for any.
  package static func make(table: String, key: [SQLiteValue]) -> String? {
    CloudName.recordType(ofTable: table).map { make(recordType: $0, key: key) }
  }

  /// Returns the name of a row's record.
  ///
  /// - Parameters:
  ///   - recordType: The type as ``CloudName`` makes it.
  ///   - key: The values of the key's columns, in the key's order.
  /// - Returns: A name that the cloud takes.
  package static func make(recordType: String, key: [SQLiteValue]) -> String {
    if key.count == 1, case .text(let text) = key[0], isPlain(text) {
      return name(ofKey: text, recordType: recordType)
    }
    return name(ofKey: "~" + key.map(form).joined(separator: ","), recordType: recordType)
  }

  /// Returns the name of a record of a type, with what the name of one of any type tells of the key.
  static func name(ofKey text: String, recordType: String) -> String {
    let room = RecordRules.maximumNameLength - recordType.utf8.count - 1
    return "\(text.utf8.count <= room ? text : digest(ofKey: text)):\(recordType)"
  }

  /// What a name tells of the key: all but the record type behind it.
  static func key(of name: String) -> String {
    String(name[..<(name.utf8.lastIndex(of: 0x3a) ?? name.endIndex)])
  }

  /// What tells a row's key from every other, by the name of a record of whatever type: a key that some types have no room
  /// for is told by its digest.
  static func identity(of name: String) -> String {
    let text = key(of: name)
    let room = RecordRules.maximumNameLength - CloudName.maximumTypeByteCount - 1
    return text.utf8.count <= room ? text : digest(ofKey: text)
  }

  /// Whether a name tells no more of the key than its digest.
  static func isDigest(_ name: String) -> Bool { name.utf8.starts(with: "~h".utf8) }

  private static func digest(ofKey text: String) -> String {
    if isDigest(text) { return text }
    let form = text.utf8.first == 0x7e ? text : "~" + form(of: .text(text))
    return "~h" + Hexadecimal.text(of: SHA256.digest(of: Array(form.utf8)))
  }

  /// Reads a name; nil if no row's record has it.
  package static func parse(_ name: String) -> RecordName? {
    guard let colon = name.utf8.lastIndex(of: 0x3a) else { return nil }
    let type = String(name[name.index(after: colon)...])
    guard let table = CloudName.table(ofRecordType: type) else { return nil }
    let text = String(name[..<colon])
    guard text.utf8.first == 0x7e else {
      return checked(RecordName(table: table, key: .values([.text(text)])), name: name, type: type)
    }
    if isDigest(text) {
      let digits = text.utf8.dropFirst(2)
      let isDigest = digits.count == 64 && Hexadecimal.bytes(of: text.dropFirst(2)) != nil
      return isDigest ? RecordName(table: table, key: .digest) : nil
    }
    var values: [SQLiteValue] = []
    let forms = text.dropFirst()
    if !forms.isEmpty {
      for form in forms.split(separator: ",", omittingEmptySubsequences: false) {
        guard let value = value(of: form) else { return nil }
        values.append(value)
      }
    }
    return checked(RecordName(table: table, key: .values(values)), name: name, type: type)
  }

  /// Lets only the one form of a key pass, so that two names never mean one row.
  private static func checked(_ parsed: RecordName, name: String, type: String) -> RecordName? {
    guard case .values(let values) = parsed.key,
      UTF8Bytes.equal(make(recordType: type, key: values), name)
    else { return nil }
    return parsed
  }

  private static func isPlain(_ text: String) -> Bool {
    if let first = text.utf8.first, first == 0x5f || first == 0x7e { return false }
    return UTF8Bytes.with(text) { utf8 in
      for byte in utf8 where byte < 0x20 || byte >= 0x7f { return false }
      return true
    }
  }

  private static func form(of value: SQLiteValue) -> String {
    switch value {
    case .null: return "n"
    case .integer(let value): return "i\(value)"
    case .real(let value):
      // For a key SQLite holds 1 and 1.0 to be the same.
      if let whole = Int64(exactly: value) { return "i\(whole)" }
      let bits = value.bitPattern
      let bytes = stride(from: 56, through: 0, by: -8)
        .map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) }
      return "r" + Hexadecimal.text(of: bytes)
    case .text(let text): return "t" + percentEncoded(text)
    case .malformedText(let bytes): return "m" + Hexadecimal.text(of: bytes)
    case .blob(let bytes): return "b" + Hexadecimal.text(of: bytes)
    }
  }

  private static func value(of form: Substring) -> SQLiteValue? {
    let rest = form.dropFirst()
    switch form.utf8.first {
    case UInt8(ascii: "n"): return rest.isEmpty ? .null : nil
    case UInt8(ascii: "i"): return Int64(rest).map { .integer($0) }
    case UInt8(ascii: "r"):
      guard let bytes = Hexadecimal.bytes(of: rest), bytes.count == 8 else { return nil }
      return .real(Double(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
    case UInt8(ascii: "t"): return percentDecoded(rest).map { .text($0) }
    case UInt8(ascii: "m"):
      guard let bytes = Hexadecimal.bytes(of: rest),
        bytes.withUnsafeBytes({ UTF8Bytes.text($0) }) == nil
      else { return nil }
      return .malformedText(bytes)
    case UInt8(ascii: "b"): return Hexadecimal.bytes(of: rest).map { .blob($0) }
    default: return nil
    }
  }

  private static func percentEncoded(_ text: String) -> String {
    func isKept(_ byte: UInt8) -> Bool {
      byte > 0x20 && byte < 0x7f && byte != 0x25 && byte != 0x2c
    }
    return UTF8Bytes.with(text) { utf8 in
      // Most keys have nothing to encode, and long ones are looked at often.
      if utf8.allSatisfy(isKept) { return text }
      var bytes: [UInt8] = []
      bytes.reserveCapacity(utf8.count)
      for byte in utf8 {
        if isKept(byte) {
          bytes.append(byte)
        } else {
          bytes += [0x25] + Hexadecimal.digits(of: byte)
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  private static func percentDecoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == 0x25 else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst(), let low = rest.popFirst(),
        let value = Hexadecimal.byte(high, low)
      else { return nil }
      bytes.append(value)
    }
    return bytes.withUnsafeBytes { UTF8Bytes.text($0) }
  }
}

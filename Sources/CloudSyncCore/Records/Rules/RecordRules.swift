/// The rules that every record must obey to be accepted by the cloud.
///
/// A session checks them when work is submitted, so that a mistake is reported where it was made
/// and not by the cloud, minutes later. What depends on the cloud's state is not checked.
public enum RecordRules {
  /// How many bytes a record may have, assets apart.
  public static let maximumRecordByteCount = 1_000_000
  /// How many characters a name may have.
  public static let maximumNameLength = 255
  /// How deeply lists may be nested; CloudKit itself takes one level only.
  public static let maximumListDepth = 8
  /// The record type of shares, which alone may have a dot in its name.
  public static let shareRecordType = "cloudkit.share"

  /// Checks that a record can be saved in a zone.
  ///
  /// - Throws: The first rule that the record breaks.
  /// - Complexity: O(*n*) in the fields, the lengths of their names and the elements of lists.
  public static func check(_ record: Record, zone: ZoneID) throws(RecordRuleViolation) {
    _ = try checkedByteCount(of: record, zone: zone)
  }

  /// Checks that a record can be saved in a zone, and returns its bytes.
  package static func checkedByteCount(
    of record: Record,
    zone: ZoneID
  ) throws(RecordRuleViolation) -> Int {
    let storage = record.storage
    try check(storage.recordID, zone: zone)
    guard
      isIdentifier(storage.recordType) || UTF8Bytes.equal(storage.recordType, shareRecordType)
    else {
      throw violation(record: record, rule: .recordType)
    }
    if let parent = storage.parent {
      guard parent.zoneID == storage.recordID.zoneID, isName(parent.name) else {
        throw violation(record: record, rule: .parent)
      }
    }
    let (fieldBytes, broken) = storage.fields.withUnsafeBufferPointer { checkedByteCount(of: $0) }
    if let broken {
      throw violation(record: record, rule: broken.rule, field: storage.fields[broken.index])
    }
    let byteCount = storage.headByteCount + fieldBytes
    if byteCount > maximumRecordByteCount {
      throw violation(
        record: record,
        rule: .size(byteCount: byteCount, limit: maximumRecordByteCount)
      )
    }
    return byteCount
  }

  /// Measures fields, and finds the first that breaks a rule, in one pass.
  private static func checkedByteCount(
    of fields: UnsafeBufferPointer<RecordField>
  ) -> (byteCount: Int, broken: (index: Int, rule: RecordRuleViolation.Rule)?) {
    var sum = 0
    for index in fields.indices {
      guard isIdentifier(fields[index].name) else { return (0, (index, .fieldName)) }
      switch fields[index].value {
      case .null: sum += fields[index].name.utf8.count
      case .int64, .double, .timestamp: sum += fields[index].name.utf8.count + 8
      case .list(let values):
        guard isFlat(values, within: maximumListDepth - 1) else {
          return (0, (index, .listDepth(limit: maximumListDepth)))
        }
        sum += fields[index].byteCount
      default: sum += fields[index].byteCount
      }
    }
    return (sum, nil)
  }

  /// Checks that a record from the cloud can be kept: it lies in the zone and has proper names.
  ///
  /// Sizes are the cloud's own affair.
  ///
  /// - Throws: The first rule that the record breaks.
  public static func checkFetched(
    _ record: Record,
    zone: ZoneID
  ) throws(RecordRuleViolation) {
    guard record.recordID.zoneID == zone else {
      throw violation(record: record, rule: .zone(expected: zone))
    }
    guard !record.recordID.name.isEmpty else { throw violation(record: record, rule: .recordName) }
    guard
      isIdentifier(record.recordType) || UTF8Bytes.equal(record.recordType, shareRecordType)
    else { throw violation(record: record, rule: .recordType) }
    for field in record.storage.fields where !isIdentifier(field.name) {
      throw violation(record: record, rule: .fieldName, field: field)
    }
  }

  /// Checks that an ID can name a record of a zone.
  ///
  /// - Throws: The first rule that the ID breaks.
  public static func check(_ recordID: RecordID, zone: ZoneID) throws(RecordRuleViolation) {
    guard recordID.zoneID == zone else {
      throw RecordRuleViolation(subject: recordID.description, rule: .zone(expected: zone))
    }
    guard isName(recordID.name) else {
      throw RecordRuleViolation(subject: recordID.description, rule: .recordName)
    }
  }

  /// Checks that a zone can exist; the cloud's own default zone is allowed.
  ///
  /// - Throws: The rule that its name breaks.
  public static func check(_ zone: ZoneID) throws(RecordRuleViolation) {
    guard isName(zone.name) || UTF8Bytes.equal(zone.name, ZoneID.defaultZoneName) else {
      throw RecordRuleViolation(subject: zone.description, rule: .zoneName)
    }
  }

  private static func violation(
    record: Record,
    rule: RecordRuleViolation.Rule,
    field: RecordField? = nil
  ) -> RecordRuleViolation {
    RecordRuleViolation(
      subject: "\(record.recordType) \(record.recordID)",
      field: field?.name,
      rule: rule
    )
  }

  /// 1 to 255 ASCII characters, the first no underscore.
  package static func isName(_ text: String) -> Bool {
    UTF8Bytes.with(text) { bytes in
      guard bytes.count >= 1, bytes.count <= maximumNameLength, bytes[0] != 0x5f else {
        return false
      }
      var high: UInt64 = 0
      var index = 0
      while index + 8 <= bytes.count {
        high |= bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        index += 8
      }
      while index < bytes.count {
        high |= UInt64(bytes[index])
        index += 1
      }
      return high & 0x8080_8080_8080_8080 == 0
    }
  }

  /// An ASCII letter, then ASCII letters, digits and underscores, at most 255 in all.
  package static func isIdentifier(_ text: String) -> Bool {
    UTF8Bytes.with(text) { bytes in
      guard bytes.count >= 1, bytes.count <= maximumNameLength, isLetter(bytes[0]) else {
        return false
      }
      // Words of eight bytes; the last one overlaps that before it.
      if bytes.count >= 8 {
        var index = 0
        while index + 8 <= bytes.count {
          guard isWord(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) else {
            return false
          }
          index += 8
        }
        return isWord(bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
      }
      if bytes.count >= 4 {
        let first = bytes.loadUnaligned(as: UInt32.self)
        let last = bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self)
        return isWord(UInt64(first) << 32 | UInt64(last))
      }
      for byte in bytes where !(isLetter(byte) || byte &- 0x30 < 10 || byte == 0x5f) {
        return false
      }
      return true
    }
  }

  @inline(__always)
  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

  /// Whether eight bytes are ASCII letters, digits and underscores, all at once.
  @inline(__always)
  private static func isWord(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs = ones << 7
    // The high bit of each byte from a first one on: no byte is above 0x7f, so none carries over.
    func isAtLeast(_ first: UInt64, in word: UInt64) -> UInt64 { word &+ (0x80 - first) &* ones }
    let low = word & ~highs
    let lowercase = low | 0x20 &* ones
    let letters = isAtLeast(0x61, in: lowercase) & ~isAtLeast(0x7b, in: lowercase)
    let digits = isAtLeast(0x30, in: low) & ~isAtLeast(0x3a, in: low)
    let underscores = isAtLeast(0x5f, in: low) & ~isAtLeast(0x60, in: low)
    return (letters | digits | underscores) & ~word & highs == highs
  }

  private static func isFlat(_ values: [FieldValue], within depth: Int) -> Bool {
    for case .list(let inner) in values {
      guard depth > 0, isFlat(inner, within: depth - 1) else { return false }
    }
    return true
  }
}

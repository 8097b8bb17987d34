import CloudSyncCore
import CloudSyncSQLiteSupport

extension RecordFormat {
  /// The key of a row.
  ///
  /// - Parameter values: The values of all columns, in the format's order.
  /// - Returns: The key, in the one spelling that stands for all equal ones.
  func key(ofRow values: [SQLiteValue]) -> RecordKey { key(spelled: key.map { values[$0.place] }) }

  /// The key whose columns have these values, in the key's order.
  func key(spelled: [SQLiteValue]) -> RecordKey {
    RecordKey(spelled: spelled, collations: key.map(\.collation), recordType: recordType)
  }

  /// The key of a row, if a record of a name is that row's; the same as comparing the name of its key.
  func key(ofRow values: [SQLiteValue], named name: String) -> RecordKey? {
    // The name is not made anew for the key that most tables have.
    if key.count == 1, case .text(let text) = values[key[0].place],
      isPlain(text, comparedBy: key[0].collation, in: name)
    {
      return RecordKey(values: [values[key[0].place]], name: name)
    }
    let key = key(ofRow: values)
    return UTF8Bytes.equal(key.name, name) ? key : nil
  }

  /// The key of the row that a record is of; nil if it is none of a row's of the table, or if the fields of its
  /// key's columns tell of another row than its name.
  func key(of record: Record) throws(CodedError) -> RecordKey? {
    let name = record.recordID.name
    guard let parsed = RecordName.parse(name) else { return nil }
    var told: [SQLiteValue] = []
    if case .values(let values) = parsed.key {
      guard values.count == key.count else { return nil }
      told = values
    }
    var fields = TakenFields(record)
    for (index, column) in key.enumerated() {
      let value = try fields.value(of: columns[column.place])
      guard case .value(let spelled)? = ValueCodec.decode(value) else { return nil }
      if told.count == index {
        told.append(spelled)
      } else if spelled != .null {
        told[index] = spelled
      }
    }
    let key = key(spelled: told)
    return UTF8Bytes.equal(key.name, name) ? key : nil
  }

  /// The row that a record is of, as it is here: its key, and what it has.
  ///
  /// An older version of the app that has given the row another key knows the key's column by a former name, and carries the
  /// present one along with the key that the row had first: then the record's name tells the key.
  ///
  /// - Parameter record: The record.
  /// - Returns: The key, nil if it is none of a row's of the table; what the row has, nil if no engine has made the record.
  /// - Throws: What cannot be read.
  func row(
    of record: Record
  ) throws(CodedError) -> (key: RecordKey?, version: RecordVersion?) {
    let (key, version) = (try key(of: record), try version(of: record))
    guard key == nil, var row = version, let origin = row.clock.row,
      case .values(let told)? = RecordName.parse(record.recordID.name)?.key,
      told.count == self.key.count
    else { return (key, version) }
    let own = self.key(spelled: told)
    var carried: [SQLiteValue] = []
    for column in self.key {
      let value = row.value(of: columns[column.place].column) ?? .null
      guard case .value(let value)? = ValueCodec.decode(value) else { return (nil, version) }
      carried.append(value)
    }
    guard UTF8Bytes.equal(own.name, record.recordID.name),
      UTF8Bytes.equal(self.key(spelled: carried).name, origin.name)
    else { return (nil, version) }
    for (column, value) in zip(self.key, own.values) {
      guard case .field(let field) = ValueCodec.encode(value, assetThreshold: .max) else {
        continue
      }
      row.recall(field, of: columns[column.place].column)
    }
    return (own, row)
  }

  /// Whether a record that is none of the key's is of one that the table has had, or has in another version of the app:
  /// its own columns make its name, or nothing is left of it but a deletion.
  func isOfFormerKey(_ record: Record, version: RecordVersion) -> Bool {
    let columns = version.columns
    if columns.isEmpty { return true }
    let collations: [KeyCollation] = [.binary, .nocase, .rtrim]
    let values = columns.compactMap { column -> SQLiteValue? in
      if case .value(let value)? = ValueCodec.decode(column.value) { value } else { nil }
    }
    if case .values(let told)? = RecordName.parse(record.recordID.name)?.key, told.count > 1 {
      return told.allSatisfy { part in
        values.contains { value in collations.contains { $0.canonical(value) == part } }
      }
    }
    return values.contains { value in
      collations.contains { collation in
        let key = RecordKey(spelled: [value], collations: [collation], recordType: recordType)
        return UTF8Bytes.equal(key.name, record.recordID.name)
      }
    }
  }

  /// Whether a name is a text that stands for itself, and the table's type behind it.
  private func isPlain(_ text: String, comparedBy collation: KeyCollation, in name: String) -> Bool
  {
    let count = text.utf8.count
    guard name.utf8.count == count + 1 + recordType.utf8.count,
      name.utf8.count <= RecordRules.maximumNameLength
    else { return false }
    return UTF8Bytes.with(name) { name in
      let isSame = UTF8Bytes.with(text) {
        UTF8Bytes.equal($0, UnsafeRawBufferPointer(rebasing: name[..<count]))
      }
      let isOfTable = UTF8Bytes.with(recordType) {
        UTF8Bytes.equal($0, UnsafeRawBufferPointer(rebasing: name[(count + 1)...]))
      }
      guard isSame, isOfTable, name[count] == 0x3a, name[0] != 0x5f, name[0] != 0x7e else {
        return false
      }
      if collation == .rtrim, count > 0, name[count - 1] == 0x20 { return false }
      for index in 0..<count {
        let byte = name[index]
        if byte &- 0x20 >= 0x5f { return false }
        if collation == .nocase, byte &- 0x41 < 26 { return false }
      }
      return true
    }
  }
}

import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A row out of a record that has nothing out of the ordinary.
struct PlainRow: Sendable {
  let key: RecordKey
  /// The values of the table's columns, in the format's order: NULL for those that the record does not know.
  let values: [SQLiteValue]
  /// The clock as it is stored.
  let clock: PlainClock.Stored
}

extension RecordFormat {
  // MARK: To the cloud

  /// The clock's field in the records of rows all of whose columns are of one time; many rows may share it.
  func newClock(at time: HybridTime, created: HybridTime) -> FieldValue {
    .data(plainClock.inRecord(at: time, created: created))
  }

  /// Returns the record of a new row all of whose columns are of one time, as ``record(_:key:zoneID:)`` does.
  ///
  /// - Parameters:
  ///   - values: The values of all columns, in the format's order.
  ///   - clock: What ``newClock(at:created:)`` gives.
  ///   - recordID: The record's identity.
  /// - Returns: Nil if a value does not lie in its column's own field.
  func newRecord(values: [SQLiteValue], clock: FieldValue, recordID: RecordID) -> Record? {
    var fields: [RecordField] = []
    fields.reserveCapacity(slots.count)
    for slot in slots {
      guard let column = slot.column else {
        fields.append(RecordField(name: slot.field, value: clock))
        continue
      }
      switch (values[column], slot.kind) {
      case (.null, _): continue
      case (.integer(let number), .integer):
        fields.append(RecordField(name: slot.field, value: .int64(number)))
      case (.real(let number), .real):
        fields.append(RecordField(name: slot.field, value: .double(number)))
      case (.text(let text), .text):
        if text.utf8.count > textThreshold || UTF8Bytes.with(text, { $0.hasNUL }) { return nil }
        fields.append(RecordField(name: slot.field, value: .string(text)))
      case (.blob(let bytes), .blob):
        if bytes.count > assetThreshold { return nil }
        fields.append(RecordField(name: slot.field, value: .data(Data(bytes))))
      default: return nil
      }
    }
    return encrypted(Record(recordType: recordType, recordID: recordID, sortedFields: fields))
  }

  // MARK: From the cloud

  /// Reads a record the quick way, as ``version(of:)`` does; nil if it has anything out of the ordinary.
  ///
  /// The row lives and was never deleted, it has no counters and no foreign fields, all its values lie in their
  /// columns' own fields, and its key is the one that its name tells.
  func plainRow(of record: Record) -> PlainRow? {
    var values: [SQLiteValue] = Array(repeating: .null, count: columns.count)
    guard let data = read(record.fields, into: &values), let clock = plainClock.stored(of: data),
      // What is in the field of a column that the clock does not know is foreign.
      clock.missing.allSatisfy({ values[$0] == .null }),
      let key = key(ofRow: values, named: record.recordID.name)
    else { return nil }
    return PlainRow(key: key, values: values, clock: clock)
  }

  /// Reads the values of columns, and returns the clock.
  private func read(_ fields: [RecordField], into values: inout [SQLiteValue]) -> Data? {
    var next = 0
    var clock: Data?
    for field in fields {
      var order = -1
      while next < slots.count {
        order = UTF8Bytes.order(slots[next].field, field.name)
        if order >= 0 { break }
        next += 1
      }
      guard order == 0 else {
        if field.value.isNull { continue }
        return nil
      }
      let slot = slots[next]
      next += 1
      guard let column = slot.column else {
        clock = field.value.dataValue
        continue
      }
      switch (field.value, slot.kind) {
      case (.null, _): break
      case (.int64(let number), .integer): values[column] = .integer(number)
      case (.double(let number), .real): values[column] = number.isNaN ? .null : .real(number)
      case (.string(let text), .text): values[column] = .text(text)
      case (.data(let data), .blob): values[column] = .blob(Array(data))
      default: return nil
      }
    }
    return clock
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a byte is 0.
  fileprivate var hasNUL: Bool {
    var index = 0
    while index + 8 <= count {
      let word = loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
      index += 8
    }
    while index < count {
      if self[index] == 0 { return true }
      index += 1
    }
    return false
  }
}

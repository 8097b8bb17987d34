public import CloudSyncCore

/// Turns models that are `Encodable` into records.
///
/// ```swift
/// let record = try RecordEncoder().encode(note, recordType: "Note", recordID: id)
/// let note = try RecordDecoder().decode(Note.self, from: record)
/// ```
///
/// A model must encode itself into a keyed container; each of its keys becomes a field.
///
/// | in the model | in the record |
/// |---|---|
/// | `String`, `UUID`, `URL` (absolute), `Decimal` | string |
/// | `Bool` | int64, 0 or 1 |
/// | integers of any width | int64; an error if the number does not fit |
/// | `Double`, `Float` | double |
/// | `Date` | timestamp |
/// | `Data` | data |
/// | `Timestamp`, `Reference`, `Asset`, `Location`, `FieldValue` | as they are |
/// | `RecordID` | reference that deletes nothing |
/// | enumerations with raw values | the raw value |
/// | arrays, sets | list, lists of lists included |
/// | anything with keys: structures, classes, dictionaries | string that holds JSON |
/// | nil | what ``nilEncoding`` says; null inside a list |
///
/// One model has one coded form, the same bytes on every system, so equal values are equal in the
/// cloud. JSON is written without white space, with keys in the order of their UTF-8 bytes and the
/// fewest digits that a number needs; only quotes, backslashes and control characters are escaped.
/// A `Decimal` has all of its digits. Dates are seconds since 2001, data is Base64. Infinities and
/// NaN are the texts `inf`, `-inf` and `nan`; a NaN loses its payload. An array of structures is a
/// list of such texts. Sets, and dictionaries whose keys are no text, are put in the order of their
/// coded elements.
///
/// A `Date` is rounded to the nanosecond, and comes back with the same bits where its own steps
/// are no finer: everywhere but within 97 days of the beginning of 2001. One that `Timestamp`
/// does not reach (it covers the years 1678 to 2261) is an error, and so are `Date.distantPast`
/// and `Date.distantFuture`. Inside JSON every date keeps its bits.
///
/// CloudKit itself takes lists of one kind only, without null and without lists inside.
public struct RecordEncoder: Sendable {
  /// What becomes of an optional that is nil.
  public enum NilEncoding: Hashable, Sendable {
    /// The field is `FieldValue.null`, which removes it in the cloud.
    case null
    /// The field is left out, so that the cloud keeps what it has.
    case omit
  }

  /// What becomes of an optional that is nil; null if nothing else is said.
  public var nilEncoding: NilEncoding
  /// How coding keys become the names of fields.
  ///
  /// Keys inside JSON stay as they are.
  public var keyEncoding: KeyEncoding
  /// The names of the fields to keep encrypted, as they are in the record.
  ///
  /// Names of fields that a model has not are ignored.
  public var encryptedKeys: Set<String>
  /// How many lists and structures may lie inside each other in one field.
  ///
  /// Lists alone may be nested `RecordRules.maximumListDepth` deep at most.
  public var maximumNesting: Int
  /// What models can read while they encode themselves.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  /// Creates an encoder.
  ///
  /// - Precondition: `maximumNesting` is not negative.
  public init(
    nilEncoding: NilEncoding = .null,
    keyEncoding: KeyEncoding = .useDefaultKeys,
    encryptedKeys: Set<String> = [],
    maximumNesting: Int = 32
  ) {
    precondition(maximumNesting >= 0, "Give a RecordEncoder a nesting that is not negative.")
    self.nilEncoding = nilEncoding
    self.keyEncoding = keyEncoding
    self.encryptedKeys = encryptedKeys
    self.maximumNesting = maximumNesting
  }

  /// Makes a record of a model.
  ///
  /// The record has fields and encrypted keys; change tag, parent and dates are the caller's.
  ///
  /// - Throws: `EncodingError` with the path of the value that cannot be encoded, that has an
  ///   invalid or ambiguous field name, or that is nested too deeply; what the model itself throws.
  public func encode<T: Encodable>(
    _ value: T,
    recordType: String,
    recordID: RecordID
  ) throws -> Record {
    let box = EncodingBox(level: .record, depth: -1)
    try value.encode(to: BoxEncoder(box: box, codingPath: [], options: self))
    guard case .object(let entries) = box.content else {
      throw EncodingError.invalidValue(
        value,
        .init(codingPath: [], debugDescription: "A record needs a model with keys, not \(T.self).")
      )
    }
    var record = Record(
      recordType: recordType,
      recordID: recordID,
      sortedFields: try fields(of: entries)
    )
    if !encryptedKeys.isEmpty {
      record.encryptedKeys = record.fields.map(\.name).filter(encryptedKeys.contains)
    }
    return record
  }

  /// Names the fields, sorts them and keeps the last value of each key.
  private func fields(of entries: [EncodingBox.Entry]) throws -> [RecordField] {
    var named: [(name: String, place: Int)] = []
    for (place, entry) in entries.enumerated() {
      let name = keyEncoding.fieldName(for: entry.key.stringValue)
      guard RecordRules.isIdentifier(name) else {
        throw failure(
          of: entry,
          reason: "“\(name)” is no field name: a letter, then letters, digits, “_”."
        )
      }
      named.append((name, place))
    }
    named.sort {
      let order = UTF8Bytes.order($0.name, $1.name)
      return order < 0 || (order == 0 && $0.place < $1.place)
    }
    var fields: [RecordField] = []
    for (index, item) in named.enumerated() {
      let entry = entries[item.place]
      if index + 1 < named.count, UTF8Bytes.equal(named[index + 1].name, item.name) {
        let next = entries[named[index + 1].place].key.stringValue
        guard UTF8Bytes.equal(next, entry.key.stringValue) else {
          throw failure(
            of: entry,
            reason: "The key “\(next)” has the field name “\(item.name)” too."
          )
        }
        continue
      }
      if let value = try value(of: entry) {
        fields.append(RecordField(name: item.name, value: value))
      }
    }
    return fields
  }

  private func value(of entry: EncodingBox.Entry) throws -> FieldValue? {
    if case .null = entry.box.content { return nilEncoding == .null ? .null : .none }
    return try entry.box.fieldValue(path: [entry.key], options: self)
  }

  private func failure(of entry: EncodingBox.Entry, reason: String) -> EncodingError {
    .invalidValue(
      entry.key.stringValue,
      .init(codingPath: [entry.key], debugDescription: reason)
    )
  }
}

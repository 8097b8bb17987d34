/// A record: a type, an identity and named values.
///
/// **The fields of a record that is saved are the edit, not the record.** A field that is present
/// is set, one whose value is ``FieldValue/null`` is removed, and one that is absent stays as the
/// cloud has it. A record that comes from the cloud is whole: what is absent there does not exist.
///
/// ```swift
/// var task = Record(recordType: "Task", recordID: id, fields: ["title": "Tea"])
/// task["note"] = .null  // remove the note in the cloud
/// task["note"] = nil    // or rather say nothing about it
/// ```
///
/// A record is one pointer wide; its copies share their storage until one of them is changed.
///
/// - Invariant: ``fields`` are sorted by the UTF-8 bytes of their names, which are unique, and so
///   are ``encryptedKeys``.
public struct Record: Sendable {
  package var storage: Storage

  /// Creates a record.
  ///
  /// - Parameters:
  ///   - recordType: The type, an ASCII letter followed by letters, digits and underscores.
  ///   - recordID: The identity.
  ///   - fields: The fields that the edit sets, or all those of a whole record.
  ///   - changeTag: The tag of the version that the edit was made from, nil for a new record.
  public init(
    recordType: String,
    recordID: RecordID,
    fields: [String: FieldValue] = [:],
    changeTag: String? = nil
  ) {
    var sorted: [RecordField] = []
    sorted.reserveCapacity(fields.count)
    for (name, value) in fields { sorted.append(RecordField(name: name, value: value)) }
    sorted.sort { UTF8Bytes.order($0.name, $1.name) < 0 }
    self.init(
      recordType: recordType,
      recordID: recordID,
      sortedFields: sorted,
      changeTag: changeTag
    )
  }

  /// Creates a record from fields that are sorted by the bytes of their names already.
  ///
  /// - Precondition: The names are in strictly rising order; debug builds check it.
  package init(
    recordType: String,
    recordID: RecordID,
    sortedFields: [RecordField],
    changeTag: String? = nil
  ) {
    assert(
      Storage.areSorted(sortedFields),
      "Sort the fields by the UTF-8 bytes of their names, each name once."
    )
    storage = Storage(
      recordType: recordType,
      recordID: recordID,
      fields: sortedFields,
      changeTag: changeTag
    )
  }

  package init(storage: Storage) { self.storage = storage }

  /// Gives the record storage of its own before a change, if it shares it.
  @inline(__always)
  private mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&storage) { storage = storage.copy() }
  }

  /// The record's identity.
  public var recordID: RecordID {
    get { storage.recordID }
    set {
      makeUnique()
      storage.recordID = newValue
    }
  }

  /// The record's type.
  public var recordType: String {
    get { storage.recordType }
    set {
      makeUnique()
      storage.recordType = newValue
    }
  }

  /// The fields, sorted by the UTF-8 bytes of their names.
  public var fields: [RecordField] { storage.fields }

  /// The names of the fields that the cloud keeps encrypted, sorted by their UTF-8 bytes.
  ///
  /// What is set is sorted, and each name is kept once.
  public var encryptedKeys: [String] {
    get { storage.encryptedKeys }
    set {
      makeUnique()
      storage.encryptedKeys = Storage.sortedAndUnique(keys: newValue)
    }
  }

  /// The version that the edit was made from, or that the cloud gave; opaque.
  public var changeTag: String? {
    get { storage.changeTag }
    set {
      makeUnique()
      storage.changeTag = newValue
    }
  }

  /// The record that this one is shared together with; an edit cannot take it away.
  public var parent: RecordID? {
    get { storage.parent }
    set {
      makeUnique()
      storage.parent = newValue
    }
  }

  /// The share that the record is the root of.
  public var share: RecordID? {
    get { storage.share }
    set {
      makeUnique()
      storage.share = newValue
    }
  }

  /// When the record was first saved, if that is known.
  public var creationDate: Timestamp? {
    get { storage.creationDate }
    set {
      makeUnique()
      storage.creationDate = newValue
    }
  }

  /// When the record was last changed: the cloud's word, or in an edit the app's.
  public var modificationDate: Timestamp? {
    get { storage.modificationDate }
    set {
      makeUnique()
      storage.modificationDate = newValue
    }
  }

  /// The value of a field, nil where the record says nothing about it.
  ///
  /// Setting nil takes the field out of the edit, so that the cloud keeps what it has; setting
  /// ``FieldValue/null`` removes the field in the cloud.
  ///
  /// - Warning: `record[name] = isSet ? value : nil` sets null, and so removes the field in the
  ///   cloud, if `value` is no optional. Write `.none` or `.null` in place of that `nil`.
  /// - Complexity: O(log *n*) to read, O(*n*) to add or take out, in the number of fields.
  public subscript(name: String) -> FieldValue? {
    get {
      let (index, isFound) = storage.position(of: name)
      guard isFound else { return .none }
      return storage.fields[index].value
    }
    set {
      let (index, isFound) = storage.position(of: name)
      if newValue == nil, !isFound { return }
      makeUnique()
      switch (newValue, isFound) {
      case (let value?, true): storage.fields[index].value = value
      case (let value?, false):
        storage.fields.insert(RecordField(name: name, value: value), at: index)
      case (nil, _): storage.fields.remove(at: index)
      }
    }
  }

  /// Sets the change tag; nothing is copied if it is the same already.
  mutating func replaceChangeTag(by tag: String?) {
    if !UTF8Bytes.equal(storage.changeTag, tag) { changeTag = tag }
  }

  /// Returns the record with another change tag.
  public func withChangeTag(_ changeTag: String?) -> Record {
    var record = self
    record.changeTag = changeTag
    return record
  }

  /// How many bytes the record counts for the limits of the cloud: names, values and IDs.
  ///
  /// The contents of assets do not count; see ``FieldValue/byteCount``.
  ///
  /// - Complexity: O(*n*) in the number of fields and list elements.
  public var byteCount: Int {
    storage.fields.reduce(storage.headByteCount) { $0 + $1.byteCount }
  }
}

extension Record: CustomStringConvertible {
  /// The type, the identity and the names of the fields, without their values.
  public var description: String {
    let names = fields.map { $0.value.isNull ? "-\($0.name)" : $0.name }.joined(separator: ", ")
    return "\(recordType) \(recordID) [\(names)]"
  }
}

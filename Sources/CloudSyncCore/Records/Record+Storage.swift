extension Record {
  /// What the copies of a record share.
  ///
  /// `@unchecked Sendable` because copy-on-write changes it only while one record alone holds it.
  package final class Storage: @unchecked Sendable {
    @exclusivity(unchecked) package var recordType: String
    @exclusivity(unchecked) package var recordID: RecordID
    @exclusivity(unchecked) package var fields: [RecordField]
    @exclusivity(unchecked) package var encryptedKeys: [String] = []
    @exclusivity(unchecked) package var changeTag: String?
    @exclusivity(unchecked) package var parent: RecordID?
    @exclusivity(unchecked) package var share: RecordID?
    @exclusivity(unchecked) package var creationDate: Timestamp?
    @exclusivity(unchecked) package var modificationDate: Timestamp?

    /// What the record counts for the limits without its fields.
    package var headByteCount: Int {
      var sum = recordID.name.utf8.count + recordType.utf8.count
      if let parent { sum += parent.name.utf8.count }
      if let share { sum += share.name.utf8.count }
      return sum
    }

    package init(
      recordType: String,
      recordID: RecordID,
      fields: [RecordField],
      changeTag: String?
    ) {
      self.recordType = recordType
      self.recordID = recordID
      self.fields = fields
      self.changeTag = changeTag
    }

    package func copy() -> Storage {
      copy(fields: fields)
    }

    /// A copy with other fields.
    package func copy(fields: [RecordField]) -> Storage {
      let copy = Storage(
        recordType: recordType,
        recordID: recordID,
        fields: fields,
        changeTag: changeTag
      )
      copy.encryptedKeys = encryptedKeys
      copy.parent = parent
      copy.share = share
      copy.creationDate = creationDate
      copy.modificationDate = modificationDate
      return copy
    }

    /// Where a field is, or where it would have to be inserted.
    package func position(of name: String) -> (index: Int, isFound: Bool) {
      var low = 0
      var high = fields.count
      while low < high {
        let middle = (low + high) / 2
        let order = UTF8Bytes.order(fields[middle].name, name)
        if order == 0 { return (middle, true) }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return (low, false)
    }

    /// Whether a field is one of the encrypted keys, of which there may be as many as fields.
    package func isEncrypted(_ name: String) -> Bool {
      var low = 0
      var high = encryptedKeys.count
      while low < high {
        let middle = (low + high) / 2
        let order = UTF8Bytes.order(encryptedKeys[middle], name)
        if order == 0 { return true }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return false
    }

    static func areSorted(_ fields: [RecordField]) -> Bool {
      for index in fields.indices.dropFirst()
      where UTF8Bytes.order(fields[index - 1].name, fields[index].name) >= 0 {
        return false
      }
      return true
    }

    static func areSorted(_ keys: [String]) -> Bool {
      for index in keys.indices.dropFirst()
      where UTF8Bytes.order(keys[index - 1], keys[index]) >= 0 {
        return false
      }
      return true
    }

    static func sortedAndUnique(keys: [String]) -> [String] {
      if areSorted(keys) { return keys }
      var result: [String] = []
      for key in keys.sorted(by: { UTF8Bytes.order($0, $1) < 0 }) {
        if let last = result.last, UTF8Bytes.equal(last, key) { continue }
        result.append(key)
      }
      return result
    }
  }
}

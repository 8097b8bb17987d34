extension Record {
  /// Merges this edit with a later one of the same record.
  ///
  /// A field of the later edit stands over one of this edit, ``FieldValue/null`` included. The
  /// encrypted keys are united. The change tag is this edit's, because that is the version which
  /// both were made from; type, parent, share and dates are the later edit's where it has them.
  ///
  /// - Complexity: O(*n*) in the number of fields of both.
  public func merging(later edit: Record) -> Record {
    let (earlier, later) = (storage, edit.storage)
    let result = earlier.copy(
      fields: Self.merge(earlier.fields, later: later.fields, keepingNulls: true)
    )
    result.recordType = later.recordType
    result.encryptedKeys = Self.union(of: earlier.encryptedKeys, and: later.encryptedKeys)
    result.adoptLinks(of: later)
    return Record(storage: result)
  }

  /// Returns the edit that makes this whole record of an older whole record.
  ///
  /// It keeps only the fields that differ; one that the ancestor has and this record has not is
  /// removed with ``FieldValue/null``. Where the file of an asset lies is no difference. Everything else
  /// is this record's. An edit cannot say that the parent is taken away.
  ///
  /// - Complexity: O(*n*) in the number of fields of both.
  public func edit(from ancestor: Record) -> Record {
    let (mine, theirs) = (storage.fields, ancestor.storage.fields)
    var fields: [RecordField] = []
    Self.walk(lhs: mine, rhs: theirs) { left, right in
      switch (left, right) {
      case (let left?, let right?):
        if !mine[left].value.hasSameContent(as: theirs[right].value) { fields.append(mine[left]) }
      case (let left?, nil):
        if !mine[left].value.isNull { fields.append(mine[left]) }
      case (nil, let right?):
        if theirs[right].value.isNull { return }
        fields.append(RecordField(name: theirs[right].name, value: .null))
      case (nil, nil): break
      }
    }
    let result = storage.copy(fields: fields)
    let keys = Self.union(of: storage.encryptedKeys, and: ancestor.storage.encryptedKeys)
    result.encryptedKeys = keys.isEmpty ? keys : keys.filter { result.position(of: $0).isFound }
    return Record(storage: result)
  }

  /// Tells whether this whole record holds everything that an edit sets, byte for byte.
  ///
  /// A field that the edit removes must be absent or null; a parent that it sets must be the same; the
  /// file of an asset may lie elsewhere. Then the edit has nothing left to do, whoever did it.
  ///
  /// - Complexity: O(*n*) in the number of fields of both.
  public func contains(edit: Record) -> Bool {
    if let parent = edit.storage.parent, parent != storage.parent { return false }
    let whole = storage.fields
    var index = 0
    for field in edit.storage.fields {
      var order = -1
      while index < whole.count {
        order = UTF8Bytes.order(whole[index].name, field.name)
        if order >= 0 { break }
        index += 1
      }
      if index < whole.count, order == 0 {
        if !whole[index].value.hasSameContent(as: field.value) { return false }
      } else if !field.value.isNull {
        return false
      }
    }
    return true
  }

  /// Returns the whole record after an edit: its fields are set, those that are null removed.
  ///
  /// Type and change tag stay; parent, share and dates are the edit's where it has them.
  ///
  /// - Complexity: O(*n*) in the number of fields of both.
  public func applying(_ edit: Record) -> Record {
    let result = storage.copy(
      fields: Self.merge(storage.fields, later: edit.storage.fields, keepingNulls: false)
    )
    let keys = Self.union(of: storage.encryptedKeys, and: edit.storage.encryptedKeys)
    result.encryptedKeys = keys.isEmpty ? keys : keys.filter { result.position(of: $0).isFound }
    result.adoptLinks(of: edit.storage)
    return Record(storage: result)
  }

  /// Returns the whole record after this one was saved: the stored one, with the fields that the
  /// saved one has, and its change tag.
  ///
  /// A saved record holds what was sent and the new change tag, not the whole record; a field that
  /// is null in it was removed. ``ModifyOperation/Response/recordsToStore(stored:)`` does this for
  /// a completion.
  ///
  /// - Parameter stored: The whole record as the app has it; nil if it has none.
  /// - Returns: The whole record.
  /// - Complexity: O(*n*) in the number of fields of both.
  public func merged(into stored: Record?) -> Record {
    let whole = stored ?? Record(recordType: recordType, recordID: recordID)
    return whole.applying(self).withChangeTag(changeTag ?? stored?.changeTag)
  }

  /// Returns this edit without the fields that the cloud's whole record already has.
  ///
  /// A null for a field that is absent or null there is no difference, nor is where the file of an asset
  /// lies. Everything that is no field
  /// stays as it is.
  ///
  /// - Complexity: O(*n*) in the number of fields of both.
  public func difference(from server: Record) -> Record {
    let (mine, theirs) = (storage.fields, server.storage.fields)
    var fields: [RecordField] = []
    Self.walk(lhs: mine, rhs: theirs) { left, right in
      guard let left else { return }
      let isThere =
        if let right {
          mine[left].value.hasSameContent(as: theirs[right].value)
        } else {
          mine[left].value.isNull
        }
      if !isThere { fields.append(mine[left]) }
    }
    if fields.count == mine.count { return self }
    return holding(fields)
  }

  /// The record with other fields, sorted by name; what is kept encrypted stays so.
  func holding(_ fields: [RecordField]) -> Record {
    let result = storage.copy(fields: fields)
    result.encryptedKeys = storage.encryptedKeys.filter { result.position(of: $0).isFound }
    return Record(storage: result)
  }
}

extension Record.Storage {
  /// Takes over what a later edit says beside fields.
  fileprivate func adoptLinks(of later: Record.Storage) {
    if let newer = later.parent { parent = newer }
    if let newer = later.share { share = newer }
    if let newer = later.creationDate { creationDate = newer }
    if let newer = later.modificationDate { modificationDate = newer }
  }
}

extension Record {
  /// Goes through two sorted arrays of fields by name, pairing the fields of one name.
  ///
  /// Places are visited, not fields, because a copy of a field costs two retains.
  @inline(__always)
  package static func walk(
    lhs: [RecordField],
    rhs: [RecordField],
    visit: (_ left: Int?, _ right: Int?) -> Void
  ) {
    var left = 0
    var right = 0
    while left < lhs.count, right < rhs.count {
      let order = UTF8Bytes.order(lhs[left].name, rhs[right].name)
      visit(order <= 0 ? left : nil, order >= 0 ? right : nil)
      if order <= 0 { left += 1 }
      if order >= 0 { right += 1 }
    }
    while left < lhs.count {
      visit(left, nil)
      left += 1
    }
    while right < rhs.count {
      visit(nil, right)
      right += 1
    }
  }

  /// Unites two sorted arrays of fields; the later one wins.
  private static func merge(
    _ earlier: [RecordField],
    later: [RecordField],
    keepingNulls: Bool
  ) -> [RecordField] {
    var fields: [RecordField] = []
    fields.reserveCapacity(earlier.count + later.count)
    walk(lhs: earlier, rhs: later) { old, new in
      if let new {
        if keepingNulls || !later[new].value.isNull { fields.append(later[new]) }
      } else if let old {
        if keepingNulls || !earlier[old].value.isNull { fields.append(earlier[old]) }
      }
    }
    return fields
  }

  /// Unites two sorted lists of names.
  package static func union(of lhs: [String], and rhs: [String]) -> [String] {
    if rhs.isEmpty || UTF8Bytes.equal(lhs, rhs) { return lhs }
    return lhs.isEmpty ? rhs : Storage.sortedAndUnique(keys: lhs + rhs)
  }
}

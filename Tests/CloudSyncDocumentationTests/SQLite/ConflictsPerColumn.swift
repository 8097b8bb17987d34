import CloudSyncSession
import CloudSyncSQLite
import Testing

enum ConflictsPerColumnSamples {
  // SAMPLE: CloudSyncSQLite/ConflictsPerColumn.md
  static func options() -> SyncEngineOptions {
    var notes = SyncEngineOptions.Table()
    notes.merging = TableMergePolicy(
      columns: [
        "views": .counter,  // additions of all devices count
        "tags": .setUnion,  // a JSON array: what was added anywhere is in, what was removed is out
        "read_up_to": .maximum,
        "text": .custom(bothTexts),
      ],
      deletes: .editWins
    )
    var options = SyncEngineOptions()
    options.tables["notes"] = notes
    return options
  }

  /// Both texts, the older one first: the same on every device.
  @Sendable static func bothTexts(_ conflict: ColumnConflict) -> FieldValue {
    guard case .string(let newer) = conflict.newest,
      case .string(let older) = conflict.newest == conflict.local ? conflict.server : conflict.local
    else { return conflict.newest }
    return .string("\(older)\n\(newer)")
  }
  // SAMPLE: end

  static func uniqueNames() -> SyncEngineOptions {
    // SAMPLE: CloudSyncSQLite/ConflictsPerColumn.md
    var tags = SyncEngineOptions.Table()
    tags.uniqueKeys = .rename { conflict in
      guard let name = conflict.values.first?.stringValue else { return nil }
      return [.string("\(name) (\(conflict.attempt + 1))")]
    }
    var options = SyncEngineOptions()
    options.tables["tags"] = tags
    // SAMPLE: end
    return options
  }
}

@Suite("Conflicts per column")
struct ConflictsPerColumnTests {
  @Test("The article's policies are those of the table")
  func policies() {
    let table = ConflictsPerColumnSamples.options().table("notes")
    #expect(table.merging.deletes == .editWins)
    #expect(Set(table.merging.columns.keys) == ["views", "tags", "read_up_to", "text"])
    #expect(ConflictsPerColumnSamples.uniqueNames().table("tags").uniqueKeys != nil)
  }
}

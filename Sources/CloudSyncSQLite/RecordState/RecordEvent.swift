import CloudSyncCore

/// What can happen to a row.
enum RecordEvent: Sendable, Hashable {
  /// An edit of the table, as it was captured.
  case edited(RowEdit)
  /// The cloud has this: the only way in which anything of the cloud's reaches a row, whether a page, a
  /// conflict or a repeated answer has brought it.
  case has(tag: String, RecordVersion)
  /// A save of the record as it was with one tag, or of a new record, has met this in the cloud, and changed nothing.
  case conflict(tag: String, over: String?, RecordVersion, now: Int64)
  /// The cloud has taken what was sent, as a change of the record with a tag, or as a new record.
  case saved(tag: String, over: String?, RecordVersion)
  /// The cloud does not have the record that was to be changed, as it was with this tag: why, only the feed tells.
  case missing(tag: String?, now: Int64)
  /// The cloud has refused it, with a wait of the server's own in milliseconds if it named one.
  case refused(SyncError.Code, reason: String, isPassing: Bool, wait: Int64?, now: Int64)
  /// It may be sent again: the app says so, or the schema has changed.
  case retried
  /// The feed has told that the record is gone, or a fetch of everything has not brought it.
  case vanished
  /// The cloud has answered that the record is gone, as it was known with this tag when that was asked.
  case absent(over: String?)
  /// A fetch has come to its end.
  case fetchEnded
  /// The zone is another one: nothing that was acknowledged counts.
  case zoneReplaced
  /// What the table has in columns that the row did not know.
  case completed([VersionedColumn])
  /// What the cloud has in the version known here: columns of which nothing is known any more, because their table has
  /// dropped them, are known again.
  case recalled([VersionedColumn])
  /// This database got another number: what was added to counters and is not in the cloud goes on under it.
  case renumbered(from: Int64, to: Int64)
  /// The tombstone is to be purged.
  case marked(PurgeMark)
  /// The tombstone's deletion is on its way: should its answer be lost, only a fetch may tell.
  case purging
  /// What became of writing the row into its table.
  case placed(Placement)
}

/// An edit of a row, as it was captured.
enum RowEdit: Sendable, Hashable {
  /// A row was inserted, with all its columns.
  case inserted([ColumnEdit], at: HybridTime)
  case updated([ColumnEdit], at: HybridTime)
  /// A row was deleted, with what it had. Where deletions win nobody asks for that.
  case deleted([ColumnEdit], at: HybridTime)
  /// A row has gone from its table while nobody captured: what it was given in these columns, and was not sent, is
  /// nowhere any more.
  case lost([String], at: HybridTime)
  /// A row that was there before anybody captured it.
  case found([ColumnEdit])
  /// What settles a conflict with another row, as every device does it: columns with the times that follow from
  /// both, of a row that is as young as the younger one.
  case settled([VersionedColumn], created: HybridTime)
  /// A row that was deleted has to be there again, as its table has it: every device does that alike.
  case restored([ColumnEdit])
  /// Lives of the row have ended because its key was changed, and go on as other records.
  case renamed([RowMove])
  /// The row was given its key: it was another record before, and keeps the times of its columns.
  case moved([ColumnEdit], from: MovedRow, at: HybridTime)
  /// What the record that the row was before has had beside what it took along.
  case handed(HandOver)
  /// What could not be handed to the record as which the row goes on, because nobody here knows which one that is.
  case withheld(HandOver)
  /// Of which rows references are that were just set: no edit of its own, but a part of one.
  case referred([ReferenceLife])
}

/// Which row a column refers to; nil if nobody knows.
struct ReferenceLife: Sendable, Hashable {
  var column: String
  var life: RowLife?
}

/// What an edit has made of a column.
struct ColumnEdit: Sendable, Hashable {
  var name: String
  var value: FieldValue
  /// What a counter held before; nil for a row that is new.
  var former: FieldValue?
}

/// What has to be done after an event; what is known of the row is stored in any case.
enum RecordAction: Sendable, Hashable {
  /// The table's row is to be as the state's row: written, or deleted. The outcome comes as `placed`.
  case writeRow
  /// Nothing is known of the row any more; if the table has it, it goes.
  case forget
  /// A fetch has to tell what became of the record.
  case fetch
  /// No fetch has told: the record itself is to be looked up.
  case lookUp
  /// Another record has to be given what this one has of a life that goes on as that one.
  case handOver(HandOver)
  /// Another record, of the first name, goes on as a third one: its row was given two keys at once.
  case unite(RowMove, into: RowMove)
  /// The database needs another number, for all rows, and then the event again: what is in the cloud under
  /// its own was written by another file.
  case renumber
}

/// What a reduction needs to know beside the row and the event.
struct RowRules: Sendable {
  /// The number of this database.
  var writer: Int64
  var policy: TableMergePolicy
  /// Columns that are taken from one side together.
  var groups: [[String]] = []
  /// How many conflicts a row may meet, one after the other, before it has to wait.
  var conflictBudget = 16
  /// The names of the fields that a version's record has beside its columns' own, as the table's format says; after a save
  /// over what the cloud has had, of which columns that the save has left alone are still where they were.
  var asideFields: @Sendable (RecordVersion, CloudRecord?) -> [String] = { _, _ in [] }
  /// Whether what a column has is what its type makes of another value.
  var isImage: @Sendable (_ column: String, _ value: FieldValue, _ original: FieldValue) -> Bool = {
    _,
    _,
    _ in false
  }

  var deletes: DeletePolicy { policy.deletes }
  var join: RecordJoin { RecordJoin(deletes: deletes, groups: groups) }

  func isCounter(_ column: String) -> Bool {
    if case .counter = policy.policy(for: column).kind { true } else { false }
  }

  /// Whether a column's policy looks at values, once for each new state of the cloud.
  func looksAtValues(of column: String) -> Bool {
    switch policy.policy(for: column).kind {
    case .newest, .counter: false
    case .client, .server, .maximum, .setUnion, .custom: true
    }
  }
}

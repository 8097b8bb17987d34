import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The captured changes of references that nobody has made: SQLite has, because the row that they refer to got another
/// key, or was deleted.
///
/// A trigger notes before such a change that it is about to be made, and another one captures it when it is done. SQLite
/// writes the references in between, and nothing else is captured then.
struct CapturedCascades {
  /// A captured change that may follow from another one.
  private struct Candidate {
    let id: Int64
    let place: Int
    /// The columns that were set; nil for a row that was given another key.
    let columns: Set<String>?
  }

  /// What happens to a row that others refer to.
  private enum Event { case update, deletion }

  /// By the numbers of the edits, the columns that SQLite has set.
  private(set) var columns: [Int64: Set<String>] = [:]
  /// The numbers of the edits with which rows got their keys that contain a reference which SQLite has set.
  private(set) var moves: Set<Int64> = []
  private var candidates: [Candidate] = []
  /// How many candidates there were when a row's change was announced last.
  private var announced: [RowIdentity: Int] = [:]
  private var last: CapturedEdit?

  /// Finds none.
  init() {}

  /// Finds them in the outbox.
  init(_ outbox: CapturedEditReader, in tables: SyncTables) throws(SQLiteError) {
    #if DEBUG
    if RecordMutation.takesCascadesAsEdits { return }
    #endif
    guard try outbox.hasAnnouncement() else { return }
    var found = CapturedCascades()
    try outbox.walk { (edit) throws(SQLiteError) in found.take(edit, in: tables) }
    (columns, moves) = (found.columns, found.moves)
  }

  private mutating func take(_ edit: CapturedEdit, in tables: SyncTables) {
    let former = last
    last = edit
    guard let place = tables.place(ofID: edit.table) else { return }
    let table = tables[place].captured
    let row = RowIdentity(table: edit.table, key: table.identity(of: edit.key))
    switch edit.change {
    case .replaced, .mismatched: break
    case .impending: announced[row] = candidates.count
    case .deleted: close(row, by: edit.isRenaming ? .update : .deletion, in: tables, at: place)
    case .inserted:
      guard let former, former.isRenaming, former.id + 1 == edit.id, former.table == edit.table
      else { return }
      candidates.append(Candidate(id: edit.id, place: place, columns: nil))
    case .updated(let bits):
      let columns = Set(table.watched.filter { bits.contains($0.number) }.map(\.column.name))
      // A row may refer to itself, and its reference is set before the key counts as changed.
      if !columns.isDisjoint(with: table.actions.announcedColumns) {
        close(row, by: .update, in: tables, at: place)
      }
      candidates.append(Candidate(id: edit.id, place: place, columns: columns))
    }
  }

  /// Takes what was captured since a change was announced for what follows from it.
  private mutating func close(
    _ row: RowIdentity,
    by event: Event,
    in tables: SyncTables,
    at place: Int
  ) {
    guard let first = announced.removeValue(forKey: row) else { return }
    let links = tables.links(to: place).filter { Self.writes($0, on: event) }
    for candidate in candidates[first...] {
      for link in links where link.child == candidate.place {
        guard let changed = candidate.columns else {
          if link.isInKeyOfChild { moves.insert(candidate.id) }
          continue
        }
        let own = changed.intersection(link.columns)
        if !own.isEmpty { columns[candidate.id, default: []].formUnion(own) }
      }
    }
  }

  /// Whether SQLite sets the references of a foreign key.
  private static func writes(_ link: TableLink, on event: Event) -> Bool {
    switch event {
    case .update: ReferenceActions.writes(link.reference.key.onUpdate)
    case .deletion: ReferenceActions.writesOnDeletion(link.reference.key.onDelete)
    }
  }
}

import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What a foreign key and the policies demand of a row whose parent goes.
enum ForeignKeyConsequence: Sendable, Hashable {
  case delete
  case detach
  /// It gets its defaults, if there is a row that they refer to.
  case setDefault
  /// It stays as it is, and so its parent must stay.
  case stay
}

extension SyncTables {
  /// What is to become of the rows of a foreign key; nil if SQLite itself sees to it for a table that is
  /// not synchronized.
  func consequence(of link: TableLink) -> ForeignKeyConsequence? {
    let action = link.reference.key.onDelete
    guard let place = link.child else {
      return action == .restrict || action == .noAction ? .stay : nil
    }
    let child = self[place]
    switch action {
    case .cascade: return consequence(of: child.cascades, by: link)
    case .setNull: return link.reference.canBeNull ? .detach : .stay
    case .setDefault:
      return link.isInKeyOfChild ? .stay : .setDefault
    case .restrict, .noAction: return consequence(of: child.orphans, by: link)
    }
  }

  private func consequence(
    of policy: OrphanPolicy,
    by link: TableLink
  ) -> ForeignKeyConsequence {
    switch policy {
    case .restoreParent: .stay
    case .deleteChildren: .delete
    case .detachChildren: link.reference.canBeNull ? .detach : .stay
    }
  }
}

/// Whom the defaults of a foreign key refer to.
enum DefaultTarget: Sendable {
  /// They are NULL.
  case nobody
  /// There is no such row, or they cannot be set.
  case missing
  case row(RowKey)
}

extension SyncTransaction {
  /// Whom a row refers to that gets the defaults of a foreign key.
  func defaultTarget(of link: TableLink) throws(SQLiteError) -> DefaultTarget {
    let values = try foreignKey(of: link).defaults()
    if values.contains(.null) {
      let mayBeNull = zip(link.columns, values)
        .allSatisfy { name, value in
          link.reference.child.column(named: name)?.isNotNull == false || value != .null
        }
      return mayBeNull ? .nobody : .missing
    }
    let parent = tables[link.parent]
    let found = try parent.rows(on: connection)
      .keys(where: link.referencedColumns, are: values, limit: 1)
    guard let key = found.first else { return .missing }
    return .row(parent.rowKey(of: parent.format.key(spelled: key)))
  }
}

extension RowMerge {
  /// Which side's row lives, after what both know of its creations and deletions.
  ///
  /// Where deletions win, a deletion ends every row that was created before it, and all edits of
  /// that row with it, whether or not they were made later. So it does not matter in which order
  /// deletions, creations and edits meet.
  struct Lives {
    let localLives: Bool
    let serverLives: Bool
    /// When the merged row was created, and when it or the one before it was deleted.
    private let createdAt: HybridTime?
    private let deletedAt: HybridTime?
    /// Whether the record does not say so yet.
    let mustBeSent: Bool

    init(ancestor: RowVersion?, local: RowVersion, server: RowVersion, policy: DeletePolicy) {
      let deletion = Self.latest(
        Self.deletion(here: local, ancestor),
        Self.deletion(there: server, ancestor)
      )
      // A row that nobody but this device knows was created after whatever was deleted.
      let localCreation =
        local.createdAt ?? ancestor?.createdAt ?? (ancestor == nil ? deletion?.successor : nil)
      switch policy {
      case .deleteWins:
        localLives = !local.isDeleted && Self.lives(localCreation ?? .zero, deletion)
        serverLives = !server.isDeleted && Self.lives(server.createdAt ?? .zero, deletion)
      case .editWins:
        let hasLocal = !local.isDeleted
        let hasServer = !server.isDeleted
        // Both for an edit against a deletion: what the record still holds is merged like the rest.
        localLives = hasLocal && (hasServer || Self.isChanged(local, from: ancestor))
        serverLives =
          hasServer ? hasLocal || Self.isChanged(server, from: ancestor) : localLives
      }
      let created =
        localLives
        ? serverLives ? Self.latest(localCreation, server.createdAt) : localCreation
        : server.createdAt
      let deleted = deletion == .zero ? nil : deletion
      // A mark that is not followed by a creation is taken back where the row lives.
      let isTaken = (localLives || serverLives) && !Self.lives(created ?? .zero, deleted)
      createdAt = created
      deletedAt = isTaken ? nil : deleted
      mustBeSent =
        !server.isMissing && (createdAt != server.createdAt || deletedAt != server.deletedAt)
    }

    /// Writes when the merged row was created and deleted.
    func mark(_ version: inout RowVersion) {
      version.createdAt = createdAt
      version.deletedAt = deletedAt
    }

    /// The deletion that this device knows of; nil for one of a row that nobody else has seen.
    private static func deletion(
      here local: RowVersion,
      _ ancestor: RowVersion?
    ) -> HybridTime? {
      guard let time = local.deletedAt, time != .zero else { return nil }
      guard local.isDeleted else { return time }
      guard let ancestor, !ancestor.isDeleted else { return ancestor?.deletedAt }
      // It came after what the device had seen, whatever its clock says.
      return max(time, ancestor.createdAt ?? .zero)
    }

    /// The deletion that the cloud tells of; without a time it was the row that both sides had.
    private static func deletion(there server: RowVersion, _ ancestor: RowVersion?) -> HybridTime? {
      guard server.isMissing else { return server.deletedAt }
      return ancestor.flatMap { $0.isDeleted ? $0.deletedAt : $0.createdAt ?? .zero }
    }

    private static func lives(_ created: HybridTime, _ deletion: HybridTime?) -> Bool {
      deletion.map { created > $0 } ?? true
    }

    private static func latest(_ lhs: HybridTime?, _ rhs: HybridTime?) -> HybridTime? {
      guard let lhs, let rhs else { return lhs ?? rhs }
      return max(lhs, rhs)
    }

    /// Whether a side's row has edits that are not in the ancestor.
    private static func isChanged(_ side: RowVersion, from ancestor: RowVersion?) -> Bool {
      guard let ancestor, !ancestor.isDeleted else { return true }
      return side.columns.contains { column in
        ancestor[column.name].map { !ColumnMerge.isSame(column, $0) } ?? true
      }
    }
  }
}

extension RowVersion {
  /// Whether this is a row made anew, and what the cloud has is one that was deleted before.
  package func isNewLife(after server: RowVersion, _ policy: DeletePolicy) -> Bool {
    // Where edits win, what the record still holds is merged like the rest.
    guard policy == .deleteWins, !isDeleted, let deletedAt else { return false }
    return server.createdAt ?? .zero <= deletedAt
  }

  /// Whether the cloud has no record at all, rather than one that is marked as deleted.
  package var isMissing: Bool { deletedAt == .zero && columns.isEmpty && createdAt == nil }
}

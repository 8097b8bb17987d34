import CloudSyncCore

/// The merge of one column.
struct ColumnMerge {
  let merged: VersionedColumn
  /// Whether the local row has another value.
  let writesRow: Bool
  /// Whether the record has another value, or an earlier time.
  let sends: Bool

  /// Merges a column; nil if neither side has it.
  static func merge(
    ancestor: VersionedColumn?,
    local: VersionedColumn?,
    server: VersionedColumn?,
    policy: TableMergePolicy
  ) -> ColumnMerge? {
    guard let local else {
      // The device does not know the column, which says nothing against its value.
      return server.map { ColumnMerge(merged: $0, writesRow: true, sends: false) }
    }
    guard let server else { return ColumnMerge(merged: local, writesRow: false, sends: true) }
    let localChanged = ancestor.map { !isSame($0, local) } ?? true
    let serverChanged = ancestor.map { !isSame($0, server) } ?? true
    if !localChanged { return taking(server, over: local) }
    if !serverChanged { return keeping(local, over: server) }
    let policy = policy.policy(for: local.name)
    if ValueContent.areEqual(local.value, server.value) {
      let mustCount = policy.countsEqualChanges && ancestor != nil && !local.value.isNull
      if !mustCount { return agreed(local, server) }
    }
    return settled(ancestor, local, server, policy)
  }

  /// Whether two versions are one: the same value, set at the same time.
  static func isSame(_ lhs: VersionedColumn, _ rhs: VersionedColumn) -> Bool {
    lhs.time == rhs.time && ValueContent.areEqual(lhs.value, rhs.value)
  }

  private static func taking(_ server: VersionedColumn, over local: VersionedColumn) -> ColumnMerge
  {
    let isEqual = ValueContent.areEqual(local.value, server.value)
    return ColumnMerge(merged: server, writesRow: !isEqual, sends: false)
  }

  /// The local version, which is no earlier than what it was made from whatever the clocks say.
  private static func keeping(
    _ local: VersionedColumn,
    over server: VersionedColumn
  ) -> ColumnMerge {
    let isEqual = ValueContent.areEqual(local.value, server.value)
    if isEqual, local.time <= server.time {
      return ColumnMerge(merged: server, writesRow: false, sends: false)
    }
    var merged = local
    if merged.time < server.time { merged.time = server.time.successor }
    return ColumnMerge(merged: merged, writesRow: false, sends: true)
  }

  private static func agreed(_ local: VersionedColumn, _ server: VersionedColumn) -> ColumnMerge {
    var merged = server
    merged.time = max(local.time, server.time)
    return ColumnMerge(merged: merged, writesRow: false, sends: local.time > server.time)
  }

  private static func settled(
    _ ancestor: VersionedColumn?,
    _ local: VersionedColumn,
    _ server: VersionedColumn,
    _ policy: MergePolicy
  ) -> ColumnMerge {
    let value = policy.merge(
      ColumnConflict(
        column: local.name,
        ancestor: ancestor?.value,
        local: local.value,
        localTime: local.time,
        server: server.value,
        serverTime: server.time
      )
    )
    let isLocal = ValueContent.areEqual(value, local.value)
    if ValueContent.areEqual(value, server.value) {
      return ColumnMerge(merged: server, writesRow: !isLocal, sends: false)
    }
    let merged = VersionedColumn(
      name: local.name,
      value: isLocal ? local.value : value,
      time: max(local.time, server.time)
    )
    return ColumnMerge(merged: merged, writesRow: !isLocal, sends: true)
  }
}

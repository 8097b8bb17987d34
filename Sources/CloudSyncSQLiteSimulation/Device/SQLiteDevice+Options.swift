import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator

extension SQLiteDevice {
  /// What the engine is told beside its tables.
  func options(process: DeviceProcess) -> SyncEngineOptions {
    var options = SyncEngineOptions()
    options.configuration = process.configuration
    options.gate = process.gate
    options.captureClock = .fixed
    options.sessionWillStart = { session in process.adopt(session) }
    options.zoneLost = { [weak self] loss in self?.decide(loss, for: process) ?? .wait }
    if let age = schema.purgeAge { options.tombstones = .purge(after: age) }
    options.defaultTable.orphans = schema.orphans
    options.defaultTable.cascades = schema.cascades
    var marks = options.defaultTable
    (marks.hasUniqueIntegerKeys, marks.givesIntegerKeys) = (!schema.givesKeys, schema.givesKeys)
    var lists = options.defaultTable
    if !schema.addsCounters || version.hasAdditions { lists.merging.columns["n"] = .counter }
    var items = lists
    items.merging.deletes = schema.itemDeletes(onDevice: setup.number)
    switch schema.uniqueness {
    case .none: break
    case .merged: items.uniqueKeys = .merge
    case .parked: items.uniqueKeys = .newest
    case .renamed:
      items.uniqueKeys = .rename { conflict in
        conflict.values.map { .string("\($0.stringValue ?? "") of \(conflict.recordName)") }
      }
    }
    let present = schema.tables(version: version)
    options.tables = ["marks": marks, "lists": lists, "items": items]
      .filter { name, _ in present.contains { $0.name == name } }
    if schema.textMerge != .newest {
      for table in present where table.column("b") != nil {
        options.tables[table.name, default: options.defaultTable].merging.columns[table.sql("b")] =
          schema.textMerge.policy
      }
    }
    for table in present where !table.locals.isEmpty {
      options.tables[table.name, default: options.defaultTable].localColumns = Set(
        table.locals.map(\.sql)
      )
    }
    if let filter = history.withLock({ $0.filter }) {
      options.tables[filter.table, default: options.defaultTable].rowFilter = filter.kind.sql
    }
    return options
  }

  /// Decides about a zone that is gone: what the user has erased waits, or is erased here too.
  private func decide(_ loss: ZoneLoss, for process: DeviceProcess) -> ZoneLossDecision {
    switch loss {
    case .missing, .encryptedDataReset: return .uploadAgain
    case .purged:
      guard draw(.zoneErased, for: process) else { return .wait }
      history.withLock { $0.hasErased = true }
      process.fail(at: .zoneErased)
      return .deleteLocalData
    }
  }
}

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator

/// The rows of one table that an engine sends.
struct SimulatedFilter: Sendable {
  /// A condition over a column that is edited, or over one that stays as it is.
  enum Kind: CaseIterable {
    case byEdit, byBirth

    var sql: String {
      switch self {
      case .byEdit: "a IS NULL OR a % 3 <> 1"
      case .byBirth: "born % 2 = 0"
      }
    }
  }

  var table: String
  var kind: Kind

  /// Whether a record may be sent: it is of another table, of a deleted row, or of a row that matches.
  func allows(_ record: Record) -> Bool {
    guard record.recordType == table, case .int64(let born)? = record["born"],
      RecordContent(record)?.isDeleted == false
    else { return true }
    switch kind {
    case .byBirth: return born % 2 == 0
    case .byEdit:
      guard case .int64(let number)? = record["a"] else { return true }
      return number % 3 != 1
    }
  }
}

extension SQLiteDevice {
  /// Draws the rows that an engine sends: all, but now and then some of one table only.
  func drawFilter(_ process: DeviceProcess) {
    let ratio = process.ratio(of: .rowsFiltered)
    let tables = schema.filteredTables(version: version)
    let isDrawn = history.withLock { history in
      history.filter = nil
      guard ratio.hits > 0, !tables.isEmpty, history.filters.chance(ratio.hits, in: ratio.cases)
      else { return false }
      let table = history.filters.pick(tables)
      let kind = history.filters.pick(SimulatedFilter.Kind.allCases)
      history.filter = SimulatedFilter(table: table, kind: kind)
      history.filtered.insert(table)
      return true
    }
    if !isDrawn { return }
    // The next one may send all again.
    app.withLock { $0.isPartial = true }
    process.fail(at: .rowsFiltered)
  }

  /// A handler that tells if an engine for some tables sends a row that is to stay on the device.
  ///
  /// What the cloud has had of a table that is none of them is sent again when a zone is lost.
  func guarded(_ handler: any OperationHandler, tables: [String]) -> any OperationHandler {
    guard let filter = history.withLock({ $0.filter }), tables.contains(filter.table) else {
      return handler
    }
    return FilteredHandler(handler: handler, filter: filter) { [weak self] name in
      self?.note("\(name) was sent, and \(filter.table) has the filter \(filter.kind.sql)")
    }
  }
}

private struct FilteredHandler: WorkHandler {
  let handler: any OperationHandler
  let filter: SimulatedFilter
  let note: @Sendable (String) -> Void

  var limits: RequestLimits { handler.limits }
  var timestampUnit: Duration { handler.timestampUnit }

  func cancel(_ attempt: Attempt) { handler.cancel(attempt) }

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if case .modify(let operation) = work {
      for record in operation.records where !filter.allows(record) { note(record.recordID.name) }
    }
    handler.perform(work, context: context, completion: completion)
  }
}

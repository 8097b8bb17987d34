import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncChangesets

/// A history of the model in which every commit is made by the merge proper too, and held against it.
final class LockStepHistory: ModelHistory {
  let memory = MemoryHistory()
  /// What differs, in words; empty if nothing does.
  private(set) var differences: [String] = []
  private var ids: [UInt64: ChangesetID] = [:]
  private var workers: [String: MergeWork] = [:]
  private(set) var conflictCount = 0

  private func name(_ id: ChangesetID) -> UInt64 {
    let name = id.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    ids[name] = id
    return name
  }

  private func known(_ commit: ModelCommit) -> ChangesetID? { ids[commit.id] }

  override func id(ofEditOn parent: ModelCommit?, time: Int, state: ModelState) -> UInt64 {
    let rows = Self.changes(from: parent?.state, to: state)
    let table = TableDelta("t", rows: rows.map { $0.at(time) })
    do {
      return name(try memory.edit(parent.flatMap(known), time: time, [table]))
    } catch {
      differences.append("\(error)")
      return super.id(ofEditOn: parent, time: time, state: state)
    }
  }

  override func id(
    ofMergeOf heads: [ModelCommit],
    _ policies: ModelPolicies,
    parents: [ModelCommit],
    state: ModelState
  ) -> UInt64 {
    do {
      let real = heads.compactMap(known)
      let plan = try worker(policies).plan(real[0], real[1])
      if plan.parents != parents.compactMap(known) { differences.append("parents of \(real)") }
      let mine = plan.changes.tables.first?.rows ?? []
      let expected = Self.changes(from: parents[0].state, to: state)
      if mine.map(\.comparable) != expected.map(\.comparable) {
        let (one, other) = (mine.map(\.comparable), expected.map(\.comparable))
        let extra = one.filter { !other.contains($0) } + other.filter { !one.contains($0) }
        differences.append("merge of \(real): \(extra.map(\.text))")
      }
      conflictCount += plan.conflicts.count
      return name(try memory.merge(plan))
    } catch {
      differences.append("\(error)")
      return super.id(ofMergeOf: heads, policies, parents: parents, state: state)
    }
  }

  private func worker(_ policies: ModelPolicies) -> MergeWork {
    let name = "\(policies)"
    if let worker = workers[name] { return worker }
    let handler: RowHandler = { row throws(ChangesetError) in
      if row.kind == .deletion { return .automatic }
      return .values(
        row.columns.compactMap { column in
          let values = [row.ours, row.theirs].compactMap { $0?.value(of: column).integer }
          return values.min().map { CellValue(column, .integer($0)) }
        }
      )
    }
    let worker = MergeWork(
      memory,
      rules: policies.rules,
      handler: policies.takesSmaller ? handler : nil
    )
    workers[name] = worker
    return worker
  }

  /// The changes between two states of the model.
  private static func changes(from old: ModelState?, to new: ModelState) -> [RowDelta] {
    new.indices
      .compactMap { place -> RowDelta? in
        let key = RowKey([.text("row \(place)")])
        let before = old?[place] ?? nil
        switch (before, new[place]) {
        case (nil, nil): return nil
        case (nil, let row?):
          return RowDelta(.insert, key, cells: cells(nil, row), time: .zero)
        case (let row?, nil):
          return RowDelta(.delete, key, cells: cells(row, nil), time: .zero)
        case (let before?, let after?):
          // The states of merges are made with the number 0 for theirs.
          let newer = after.map { $0.isNewerOnly && $0.writer == 0 }
          let all = cells(before, after)
          return RowDelta(
            updating: key,
            cells: all.indices.filter { all[$0].isChange || newer[$0] }.map { all[$0] }
          )
        }
      }
      .sorted { $0.key < $1.key }
  }

  private static func cells(_ old: [ModelCell]?, _ new: [ModelCell]?) -> [CellDelta] {
    (old ?? new ?? []).indices
      .map { column in
        CellDelta(
          "c\(column)",
          old: old.map { .integer(Int64($0[column].value)) } ?? .null,
          new: new.map { .integer(Int64($0[column].value)) } ?? .null,
          time: HybridTime(rawValue: Int64(new?[column].time ?? 0))
        )
      }
  }
}

extension RowDelta {
  /// The change as one edit makes it.
  fileprivate func at(_ time: Int) -> RowDelta {
    var row = self
    row.time = HybridTime(rawValue: Int64(time))
    for place in row.cells.indices { row.cells[place].time = row.time }
    return row
  }

  /// What the model knows of it: no time of rows, and none of what is gone.
  fileprivate var comparable: RowDelta { kind == .delete ? at(0) : withoutTime }

  fileprivate var text: String {
    let list = cells.map { "\($0.column) \($0.old.literal) \($0.new.literal) at \($0.time)" }
    return "\(kind) \(key.values) \(list)"
  }

  private var withoutTime: RowDelta {
    var row = self
    row.time = .zero
    return row
  }
}

extension ModelPolicies {
  /// The same for the merge proper.
  fileprivate var rules: MergeRules {
    var policies: [String: MergePolicy] = [:]
    for (place, policy) in columns.enumerated() {
      policies["c\(place)"] =
        switch policy {
        case .newest: .newest
        case .maximum: .maximum
        case .counter: .counter
        }
    }
    let merging = TableMergePolicy(
      columns: policies,
      deletes: isDeletionStronger ? .deleteWins : .editWins
    )
    return MergeRules(tables: ["t": .init(merging: merging)])
  }
}

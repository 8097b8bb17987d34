/// Columns that are merged one by one, before those that belong together are.
struct ColumnOutcomes {
  private(set) var outcomes: [Outcome] = []

  /// What became of one column.
  struct Outcome {
    let local: VersionedColumn?
    let server: VersionedColumn?
    var merge: ColumnMerge
  }

  mutating func append(
    _ local: VersionedColumn?,
    _ server: VersionedColumn?,
    _ merge: ColumnMerge
  ) {
    outcomes.append(Outcome(local: local, server: server, merge: merge))
  }

  /// Takes all columns of a group from one side, where each side has something of its own.
  ///
  /// It is the side that was edited last: half of a reference to one row and half of one to another would
  /// refer to neither.
  mutating func unite(_ groups: [[String]]) {
    for group in groups {
      let places = outcomes.indices.filter { group.contains(outcomes[$0].merge.merged.name) }
      let differing = places.filter { outcomes[$0].isContested }
      guard differing.contains(where: { outcomes[$0].merge.writesRow }),
        differing.contains(where: { outcomes[$0].merge.sends })
      else { continue }
      let localIsNewer = localIsNewer(differing)
      for place in differing { outcomes[place].take(local: localIsNewer) }
    }
  }

  private func localIsNewer(_ places: [Int]) -> Bool {
    let local = places.compactMap { outcomes[$0].local?.time }.max() ?? .zero
    let server = places.compactMap { outcomes[$0].server?.time }.max() ?? .zero
    if local != server { return local > server }
    for place in places {
      guard let mine = outcomes[place].local?.value, let theirs = outcomes[place].server?.value
      else { continue }
      return ValueContent.precedes(theirs, mine)
    }
    return false
  }
}

extension ColumnOutcomes.Outcome {
  /// Whether both sides know the column and have different values.
  fileprivate var isContested: Bool {
    guard let local, let server else { return false }
    return !ValueContent.areEqual(local.value, server.value)
  }

  fileprivate mutating func take(local isLocal: Bool) {
    guard let local, let server else { return }
    if isLocal {
      var merged = local
      if merged.time <= server.time { merged.time = server.time.successor }
      merge = ColumnMerge(merged: merged, writesRow: false, sends: true)
    } else {
      merge = ColumnMerge(merged: server, writesRow: true, sends: false)
    }
  }
}

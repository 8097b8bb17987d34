extension Model.World {
  /// What all have ended with, held against everything that was edited; nil if all is well.
  func check() -> String? {
    for key in 0..<Self.keys {
      if let wrong = checkAgreement(key) ?? checkLife(key) ?? checkEdits(key) ?? checkTruth(key) {
        return "key \(key): \(wrong)"
      }
    }
    return nil
  }

  private func checkAgreement(_ key: Int) -> String? {
    let server = cloud.records[key]?.state
    for (place, device) in devices.enumerated() where place != dead {
      let row = device.rows[key]
      if row?.local.isDeleted ?? true != server?.isDeleted ?? true {
        return "device \(device.id) and the cloud differ in life"
      }
      if let row, let server, !server.isDeleted, row.local != server {
        return "device \(device.id) differs"
      }
    }
    return nil
  }

  private func checkLife(_ key: Int) -> String? {
    if devices[0].rules.editWins || removed.contains(key) { return nil }
    let wasFound = truth[key].map { $0.created == 1 } ?? false
    let lives = max(inserted[key] ?? 0, wasFound ? 1 : 0) > deleted[key] ?? 0
    let isThere = cloud.records[key].map { !$0.state.isDeleted } ?? false
    if lives == isThere || hasPurged && !lives { return nil }
    return "inserted at \(inserted[key] ?? 0), deleted at \(deleted[key] ?? 0): there \(isThere)"
  }

  private func checkEdits(_ key: Int) -> String? {
    guard let server = cloud.records[key]?.state, !server.isDeleted, !wasDeleted.contains(key),
      !removed.contains(key), !doubled.contains(key), let authors = authors[key]
    else { return nil }
    let counted = server.counterValue - (authors.contains(Self.finder) ? 100 : 0)
    if counted != added[key] ?? 0 { return "counted \(counted), not \(added[key] ?? 0)" }
    if !isMixed, authors.count == 1, let last = last[key], server.columns[1]?.value != last {
      return "the only author's \(last) is \(server)"
    }
    return nil
  }

  private func checkTruth(_ key: Int) -> String? {
    guard !hasPurged, !removed.contains(key), let truth = truth[key] else { return nil }
    guard let server = cloud.records[key]?.state else { return "is lost" }
    if truth.isDeleted != server.isDeleted { return "\(truth) has become \(server)" }
    let isFound = { (state: Model.RowState) in state.columns.values.contains { $0.time == 0 } }
    let isOld = isFound(truth) && isFound(server)
    let isMerged = devices[0].rules.serverFirst || doubled.contains(key) || isOld
    if !isMerged, truth.columns != server.columns {
      return "an edit is lost: \(truth.columns) has become \(server.columns)"
    }
    if !server.isDeleted, server.columns.count != Self.columns,
      devices.contains(where: { $0.knows == Self.columns })
    {
      return "half a row: \(server)"
    }
    if countsTwice || doubled.contains(key) || truth.counterValue == server.counterValue {
      return nil
    }
    return "counted \(server.counterValue), not \(truth.counterValue)"
  }
}

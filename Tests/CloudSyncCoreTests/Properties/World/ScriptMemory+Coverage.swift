import CloudSyncCore

/// What a script has come across, for showing that the scripts come across everything.
extension ScriptMemory {
  mutating func cover(_ record: EventRecord, _ state: SyncState) {
    covered.insert(record.event.name)
    switch record.event {
    case .settleItems(_, let settlement), .resolveConflict(_, let settlement):
      for verdict in settlement.verdicts { covered.insert("verdict \(verdict.kind)") }
      if settlement.halt != nil { covered.insert("settlement halts") }
      if settlement.zone != nil { covered.insert("settlement loses zone") }
      if settlement.account != nil { covered.insert("settlement loses account") }
      if settlement.isTooLarge { covered.insert("settlement is too large") }
    case .retry(_, let retry):
      covered.insert("waits for \(retry.wait.cause)")
      if retry.wait.serverNanoseconds != nil { covered.insert("waits as the server asks") }
    default: break
    }
    if case .stopped(let reason) = state.phase { covered.insert("halted \(reason.error.code)") }
    if state.modify.batch.contains(where: \.isMixed) { covered.insert("mixed") }
    if state.modify.batch.contains(where: \.isLastTry) { covered.insert("last try") }
    if state.modify.batch.contains(where: { !$0.furtherSources.isEmpty }) {
      covered.insert("merged")
    }
    if state.modify.open.contains(where: { !$0.followUps.isEmpty }) { covered.insert("follow-up") }
    if case .lost = state.zoneState, state.flight != nil {
      covered.insert("look-up without a zone")
    }
    if state.parked.probe != nil { covered.insert("probe") }
    if state.fetch.isLastCut { covered.insert("run cut short") }
    if state.modify.localTags.isEmpty == false { covered.insert("own tags") }
  }
}

extension ItemVerdict {
  fileprivate var kind: String {
    switch self {
    case .saved: "saved"
    case .deleted: "deleted"
    case .alreadyThere: "alreadyThere"
    case .resolved: "resolved"
    case .lookUp: "lookUp"
    case .recreate: "recreate"
    case .stay: "stay"
    case .again(_, let counted): counted ? "again counted" : "again"
    case .park: "park"
    case .parkForQuota: "parkForQuota"
    }
  }
}

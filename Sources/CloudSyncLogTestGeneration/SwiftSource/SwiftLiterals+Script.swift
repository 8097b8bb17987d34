import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SwiftLiterals {
  private typealias Arguments = [(label: String?, value: SwiftCode)]

  // MARK: Calls

  mutating func call(_ call: SessionScript.Call) -> SwiftCode {
    switch call {
    case .start: return ".start"
    case .stop: return ".stop"
    case .reset: return ".reset"
    case .modify(let operation, let number):
      return .call(".modify", [(nil, self.operation(operation))] + Self.name(number))
    case .fetch(let operation, let number):
      return .call(".fetch", [(nil, self.operation(operation))] + Self.name(number))
    case .cancel(let number): return .text(".cancel(\(number))")
    case .retryNow: return ".retryNow"
    case .connectivityChanged: return ".connectivityChanged"
    case .retryParked(let recordIDs):
      return .call(".retryParked", recordIDs.map { [(nil, ids($0))] } ?? [])
    case .dropParked(let recordIDs):
      return .call(".dropParked", recordIDs.map { [(nil, ids($0))] } ?? [])
    case .acknowledge(let page, let answer):
      return .text(".acknowledge(PageID(number: \(page.number)), .\(answer))")
    case .attachAccountProvider: return ".attachAccountProvider"
    case .accountDidChange: return ".accountDidChange"
    case .resolveAccountSwitch(let decision): return .text(".resolveAccountSwitch(.\(decision))")
    case .decideZone(let decision): return .text(".decideZone(.\(decision))")
    case .closeGate(let wait): return .call(".closeGate", self.wait(wait))
    }
  }

  private static func name(_ number: UInt64?) -> Arguments {
    number.map { [("as", .text("\($0)"))] } ?? []
  }

  private mutating func operation(_ operation: ModifyOperation) -> SwiftCode {
    var arguments: Arguments = []
    if !operation.records.isEmpty { arguments.append(("records", records(operation.records))) }
    if !operation.recordIDsToDelete.isEmpty {
      arguments.append(("recordIDsToDelete", ids(operation.recordIDsToDelete)))
    }
    if let checkpoint = operation.checkpointID {
      needFoundation()
      arguments.append(("checkpointID", .text("UUID(uuidString: \"\(checkpoint.uuidString)\")")))
    }
    if let userInfo = operation.userInfo {
      // Sorted, because a dictionary has no order.
      let pairs = userInfo.sorted { UTF8Bytes.order($0.key, $1.key) < 0 }
        .map {
          (key: SwiftCode.literal($0.key), value: SwiftCode.text(SwiftCode.literal($0.value)))
        }
      arguments.append(("userInfo", .dictionary(pairs)))
    }
    if !operation.ancestors.isEmpty {
      arguments.append(("ancestors", records(operation.ancestors)))
    }
    return .call("ModifyOperation", arguments)
  }

  private mutating func operation(_ operation: FetchOperation) -> SwiftCode {
    if operation.isLookup {
      return .call("FetchOperation", [("lookingUp", ids(operation.recordIDs))])
    }
    var arguments: Arguments = []
    if let token = operation.changeToken {
      arguments.append(("changeToken", self.token(token)))
    }
    if operation.startingOver { arguments.append(("startingOver", "true")) }
    return .call("FetchOperation", arguments)
  }

  private mutating func wait(_ wait: Wait) -> SwiftCode {
    var arguments: Arguments = [(nil, .text(".\(wait.cause)"))]
    if let nanoseconds = wait.serverNanoseconds {
      arguments.append(("serverNanoseconds", .text(SwiftCode.digits(nanoseconds))))
    }
    let changes = wait.nanoseconds.map { ["$0.nanoseconds = \(SwiftCode.digits($0))"] } ?? []
    return with(.call("Wait", arguments), changes)
  }

  // MARK: Answers

  mutating func answer(_ answer: SessionScript.Answer) -> SwiftCode {
    switch answer.content {
    case .done: return .text(".done(.\(answer.mode))")
    case .lost: return .text(".lost(.\(answer.mode))")
    case .result(.failure(let error)):
      return .call(".\(answer.mode)", .call(".failure", self.error(error)))
    case .result(.success(let result)):
      return .call(".\(answer.mode)", .call(".success", self.result(result)))
    }
  }

  private mutating func result(_ result: SyncWork.Result) -> SwiftCode {
    switch result {
    case .createZone(let exists), .createSubscription(let exists): return .text("\(exists)")
    case .modify(let response):
      var arguments: Arguments = []
      if !response.savedRecords.isEmpty {
        arguments.append(("savedRecords", records(response.savedRecords)))
      }
      if !response.deletedRecordIDs.isEmpty {
        arguments.append(("deletedRecordIDs", ids(response.deletedRecordIDs)))
      }
      if !response.failures.isEmpty {
        arguments.append(("failures", failures(response.failures)))
      }
      return .call("ModifyOperation.Response", arguments)
    case .fetch(let response): return page(response)
    }
  }

  private mutating func page(_ response: FetchOperation.Response) -> SwiftCode {
    var arguments: Arguments = []
    if !response.changedRecords.isEmpty {
      arguments.append(("changedRecords", records(response.changedRecords)))
    }
    if !response.deletedRecords.isEmpty {
      let deleted = response.deletedRecords.map { record -> SwiftCode in
        var parts: Arguments = [("recordID", id(record.recordID))]
        if let type = record.recordType {
          parts.append(("recordType", .text(SwiftCode.literal(type))))
        }
        return .call("DeletedRecord", parts)
      }
      arguments.append(("deletedRecords", .array(deleted)))
    }
    if !response.failures.isEmpty {
      arguments.append(("failures", failures(response.failures)))
    }
    arguments.append(("changeToken", response.changeToken.map { token($0) } ?? "nil"))
    if response.hasMore { arguments.append(("hasMore", "true")) }
    if response.startedOver { arguments.append(("startedOver", "true")) }
    return .call("FetchOperation.Response", arguments)
  }

  private mutating func failures(_ failures: [ItemFailure]) -> SwiftCode {
    .array(failures.map { .call("ItemFailure", id($0.recordID), error($0.error)) })
  }

  mutating func error(_ error: SyncError) -> SwiftCode {
    var arguments: Arguments = [(nil, .text(Self.code(error.code)))]
    if !error.message.isEmpty { arguments.append((nil, .text(SwiftCode.literal(error.message)))) }
    if let wait = error.retryAfter {
      arguments.append(("retryAfter", SwiftCode.literal(wait)))
    }
    if !error.itemErrors.isEmpty {
      arguments.append(("itemErrors", failures(error.itemErrors)))
    }
    let sides = [
      ("clientRecord", error.clientRecord), ("serverRecord", error.serverRecord),
      ("ancestorRecord", error.ancestorRecord),
    ]
    for case (let name, let record?) in sides { arguments.append((name, self.record(record))) }
    if error.isEncryptedDataReset { arguments.append(("isEncryptedDataReset", "true")) }
    return .call("SyncError", arguments)
  }

  mutating func accountAnswer(_ answer: SessionScript.AccountAnswer) -> SwiftCode {
    var arguments: Arguments = [(nil, .text(answer.status.map { ".\($0)" } ?? "nil"))]
    if let identity = answer.identity {
      arguments.append((nil, .text("AccountIdentity(\(SwiftCode.literal(identity.value)))")))
    }
    if answer.delay > .zero { arguments.append(("after", SwiftCode.literal(answer.delay))) }
    return .call("script.answerAccount", arguments)
  }

  // MARK: Decisions

  mutating func decision(_ decision: Decision) -> SwiftCode {
    switch decision {
    case .conflict(let recordID, .save(let record)):
      .call(".conflict", id(recordID), .call(".save", self.record(record)))
    case .conflict(let recordID, let resolution):
      .call(".conflict", id(recordID), .text(".\(resolution)"))
    case .expiredToken(let token):
      .call(".expiredToken", token.map { self.token($0) } ?? "nil")
    case .alreadyInCloud(let recordID): .call(".alreadyInCloud", id(recordID))
    case .ancestor(let record): .call(".ancestor", self.record(record))
    }
  }

  // MARK: Configuration

  /// What makes a configuration of the default one, as assignments.
  static func changes(making configuration: SyncConfiguration) -> [String] {
    let usual = SyncConfiguration()
    var changes: [String] = []
    func change<Value: Equatable>(
      _ name: String,
      at path: KeyPath<SyncConfiguration, Value>,
      literal: (Value) -> String
    ) {
      let value = configuration[keyPath: path]
      if value != usual[keyPath: path] { changes.append("\(name) = \(literal(value))") }
    }
    if let limits = configuration.limits, limits != RequestLimits() {
      let (items, bytes) = (SwiftCode.digits(limits.items), SwiftCode.digits(limits.bytes))
      changes.append("limits = RequestLimits(items: \(items), bytes: \(bytes))")
    }
    change("timeout", at: \.timeout) { SwiftCode.literal($0).source() }
    change("firstWait", at: \.firstWait) { SwiftCode.literal($0).source() }
    change("longestWait", at: \.longestWait) { SwiftCode.literal($0).source() }
    change("conflictBudget", at: \.conflictBudget) { SwiftCode.digits($0) }
    change("failureBudget", at: \.failureBudget) { SwiftCode.digits($0) }
    change("lostResponseBudget", at: \.lostResponseBudget) { SwiftCode.digits($0) }
    change("refusedItems", at: \.refusedItems) { ".\($0)" }
    change("zoneBudget", at: \.zoneBudget) { SwiftCode.digits($0) }
    change("parkingBudget", at: \.parkingBudget) { SwiftCode.digits($0) }
    change("stuckTokenBudget", at: \.stuckTokenBudget) { SwiftCode.digits($0) }
    change("pageBudget", at: \.pageBudget) { SwiftCode.digits($0) }
    change("acknowledgesPages", at: \.acknowledgesPages) { "\($0)" }
    change("zonePolicy.missing", at: \.zonePolicy.missing) { ".\($0)" }
    change("zonePolicy.purged", at: \.zonePolicy.purged) { ".\($0)" }
    change("zonePolicy.encryptedDataReset", at: \.zonePolicy.encryptedDataReset) { ".\($0)" }
    change("missingRecordPolicy", at: \.missingRecordPolicy) { ".\($0)" }
    return changes
  }
}

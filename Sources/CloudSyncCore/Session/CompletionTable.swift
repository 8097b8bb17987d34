/// The completion of one operation.
enum OperationCompletion: Sendable {
  case modify(@Sendable (Result<ModifyOperation.Response, SyncError>) -> Void)
  case fetch(@Sendable (Result<FetchOperation.Response, SyncError>) -> Void)

  var modify: (@Sendable (Result<ModifyOperation.Response, SyncError>) -> Void)? {
    if case .modify(let body) = self { body } else { nil }
  }

  var fetch: (@Sendable (Result<FetchOperation.Response, SyncError>) -> Void)? {
    if case .fetch(let body) = self { body } else { nil }
  }

  func fail(_ error: SyncError) {
    switch self {
    case .modify(let body): body(.failure(error))
    case .fetch(let body): body(.failure(error))
    }
  }
}

/// The completions of operations that have not ended.
struct CompletionTable: Sendable {
  private var completions: [OperationID: OperationCompletion] = [:]

  mutating func add(_ completion: OperationCompletion, for id: OperationID) {
    completions[id] = completion
  }

  mutating func remove(_ id: OperationID) -> OperationCompletion? {
    completions.isEmpty ? nil : completions.removeValue(forKey: id)
  }

  /// Takes all completions, in the order of their operations.
  mutating func removeAll() -> [OperationCompletion] {
    let all = completions.sorted { $0.key < $1.key }.map(\.value)
    completions = [:]
    return all
  }
}

import CloudSyncCore
import CloudSyncSimulator

/// What several handlers answer with instead of asking their clouds, as long as there is something.
final class CloudSwitch: Sendable {
  private let error = Locked<SyncError?>(nil)

  var answer: SyncError? { error.withLock { $0 } }
  func fail(with error: SyncError?) { self.error.withLock { $0 = error } }

  /// Puts the switch before a cloud.
  func handler(_ handler: any OperationHandler) -> any OperationHandler {
    SwitchedHandler(control: self, handler: handler)
  }
}

private struct SwitchedHandler: WorkHandler {
  let control: CloudSwitch
  let handler: any OperationHandler

  func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
    if let error = control.answer { return completion(.failure(error)) }
    handler.perform(work, context: context, completion: completion)
  }
}

public import CloudSyncSession

/// What a test asks of a process of its own that has a store, one line of JSON each.
public enum ProbeRequest: Codable, Sendable {
  case createZone(device: String, ZoneID)
  case subscribe(device: String, ZoneID)
  case modify(device: String, ZoneID, ModifyOperation, WriteToken)
  case fetch(device: String, ZoneID, FetchOperation)
  case deleteZone(ZoneID, reason: Int)
  /// The process ends by `SIGKILL` at the next step of this name.
  case kill(step: String)
  /// The process says that it has come to the step, and stays there.
  case stay(step: String)
}

/// What the process answers.
public enum ProbeAnswer: Codable, Sendable {
  case done(Bool)
  case modified(ModifyOperation.Response)
  case fetched(FetchOperation.Response)
  case failed(SyncError)
  /// It has come to the step where it was told to stay.
  case stays
}

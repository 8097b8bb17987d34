import CloudSyncCore
import CloudSyncEventLog
import CloudSyncLocalCloud
import CloudSyncSimulator

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A device of the demonstration: notes in a JSON file, and a session under them.
final class DemoDevice: Sendable {
  let name: String
  let session: CloudSyncSession
  let network: DemoNetwork
  private let faults: FaultyOperationHandler
  /// Where the event log goes.
  let log: String
  private let path: String
  private let recorder: EventRecorder
  private let notes = Locked(DemoNotes())
  private let failure = Locked<String?>(nil)
  private let tell: @Sendable (String) -> Void

  /// Makes a device.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - cloud: The cloud that it shares with the other.
  ///   - world: Where it runs.
  ///   - faults: What goes wrong besides the story.
  ///   - folder: Where its files go.
  ///   - tell: Takes what happens, in words.
  init(
    _ name: String,
    _ cloud: LocalCloud,
    in world: SimulatedEnvironment,
    faults: (seed: UInt64, plan: FaultPlan),
    _ folder: DemoFolder,
    tell: @escaping @Sendable (String) -> Void
  ) {
    self.name = name
    self.tell = tell
    path = folder.file("\(name).json")
    log = folder.file("\(name).jsonl")
    let connection = cloud.connect(
      device: name,
      account: AccountIdentity("somebody"),
      zoneID: DemoNotes.zoneID,
      executor: world.executor
    )
    self.faults = FaultyOperationHandler(
      connection,
      in: world,
      seed: faults.seed,
      plan: faults.plan
    )
    network = DemoNetwork(self.faults)
    var configuration = SyncConfiguration()
    configuration.timeout = .seconds(10)
    // The zone that is lost in the story: the device has all notes, and sends them again.
    configuration.zonePolicy.missing = .ask
    session = CloudSyncSession(
      operationHandler: network,
      zoneID: DemoNotes.zoneID,
      configuration: configuration,
      resolver: .keepingBothTexts,
      environment: world.environment
    )
    recorder = EventRecorder(.file(LogFile(path: log)), redactor: .none)
    recorder.attach(to: session)
    session.appendMiddleware(AccountStatusMiddleware(provider: connection.accountStatus))
    listen()
    connection.onPush { [weak self] _ in self?.fetch() }
  }

  var texts: [String: String] { notes.withLock { $0.texts } }
  /// What could not be written, if anything.
  var problem: String? { failure.withLock { $0 } }

  // MARK: The user

  func write(_ note: String, _ text: String) throws {
    let isNew = notes.withLock { $0.notes[note]?.text == nil }
    try submit(note, text)
    tell("\(isNew ? "writes" : "changes") \(note): “\(text)”")
  }

  func delete(_ note: String) throws {
    try submit(note, nil)
    tell("throws \(note) away")
  }

  private func submit(_ note: String, _ text: String?) throws {
    let operation = change { $0.edit(note, text) }
    try session.modify(operation)
  }

  func fetch() { session.fetch(FetchOperation(changeToken: notes.withLock { $0.changeToken })) }

  func goOffline() {
    network.isOnline = false
    tell("goes offline")
  }

  func goOnline() {
    network.isOnline = true
    tell("is online again")
    session.connectivityChanged()
    fetch()
  }

  /// Lets nothing go wrong any more, and the user look once more.
  func mend() {
    faults.plan = .none
    session.start()
    session.retryParked()
    fetch()
  }

  /// Ends the event log.
  func endRecording() { recorder.detach(from: session) }

  func flushRecording() throws { try recorder.flush() }

  // MARK: The session

  private func listen() {
    session.fetchWorkCompletedSubject.sink { [weak self] _, page in
      self?.update { $0.take(page, pending: $1) }
    }
    session.modifyWorkCompletedSubject.sink { [weak self] _, response in
      self?.update { $0.take(response, pending: $1) }
    }
    session.zoneSubject.sink { [weak self] zone in
      if case .lost = zone { self?.zoneIsLost() }
    }
    session.eventsPublisher.sink { [weak self] record in
      if let words = record.event.demoWords { self?.tell(words) }
    }
  }

  private func zoneIsLost() {
    tell("finds the zone gone: has it made again, and sends all its notes")
    let operation = update { $0.forgetCloud(pending: $1) }
    do throws(RecordRuleViolation) { try session.modify(operation) } catch {
      failure.withLock { $0 = "\(error)" }
    }
    session.decideZone(.recreate)
  }

  /// Changes the notes, knowing which of them have edits on their way.
  @discardableResult
  private func update<Value: Sendable>(
    _ body: (inout DemoNotes, Set<String>) -> Value
  ) -> Value {
    let state = session.state
    var pending = Set(state.parkedRecords.map(\.recordID.name))
    pending.formUnion(state.returningRecords.map(\.recordID.name))
    for operation in state.modifyQueue {
      pending.formUnion(operation.records.map(\.recordID.name))
      pending.formUnion(operation.recordIDsToDelete.map(\.name))
    }
    return change { body(&$0, pending) }
  }

  /// Changes the notes and their file.
  private func change<Value: Sendable>(_ body: (inout DemoNotes) -> Value) -> Value {
    notes.withLock { notes in
      let value = body(&notes)
      do {
        let text = try JSONText.block(notes)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
      } catch { failure.withLock { $0 = "\(path) cannot be written: \(error)" } }
      return value
    }
  }
}

extension ConflictResolver {
  /// Keeps what both devices wrote into a note, the cloud's text first.
  fileprivate static let keepingBothTexts = ConflictResolver.fieldwise([
    "text": .custom { client, server, _ in
      guard let mine = client.stringValue, let theirs = server?.stringValue else { return client }
      return theirs.contains(mine) ? .string(theirs) : .string("\(theirs) / \(mine)")
    }
  ])
}

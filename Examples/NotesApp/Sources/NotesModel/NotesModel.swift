public import CloudSyncSQLite
public import CloudSyncSession
public import Observation

/// What the app shows, and what its user can do.
///
/// It has the list of the notes and the engine, and reads the list again whenever a row was changed: by the user, by
/// another device, or by another process that has the file.
@MainActor
@Observable
public final class NotesModel {
  /// The notes, in the order in which they are shown.
  public private(set) var notes: [Note] = []
  /// Whether the cloud or the database has refused any note.
  public var hasRejected: Bool {
    notes.contains { if case .rejected = $0.progress { true } else { false } }
  }
  /// Why the last edit, or the start of the engine, has failed; nil once one succeeds.
  public private(set) var failure: String?
  /// What the engine does, waits for, and how far it is.
  public let status: SyncEngineStatus

  private let database: NotesDatabase
  private let engine: SyncEngine
  @ObservationIgnored private var following: [Task<Void, Never>] = []

  /// Creates the model; the engine is started by ``start()``.
  ///
  /// - Parameters:
  ///   - database: The app's database.
  ///   - cloud: Talks to the cloud.
  ///   - options: How the engine works.
  ///   - environment: The clock, which tests replace.
  /// - Throws: That the table cannot be synced, or that the file cannot be written.
  public init(
    database: NotesDatabase,
    cloud: any OperationHandler,
    options: SyncEngineOptions = SyncEngineOptions(),
    environment: SyncEnvironment = .live
  ) throws {
    self.database = database
    engine = try SyncEngine(
      database: database.file,
      tables: NotesDatabase.tables,
      zoneID: NotesDatabase.zoneID,
      operationHandler: cloud,
      options: options,
      environment: environment
    )
    status = SyncEngineStatus(of: engine)
    reload()
    follow()
  }

  deinit { for task in following { task.cancel() } }

  // MARK: The engine

  /// Starts to sync, or starts again after an error.
  public func start() { attempt { try engine.start() } }

  /// Stops; edits are captured all the same, and are sent after the next start.
  public func stop() { engine.stop() }

  /// Sends and fetches now: for a button, or when the user pulls the list.
  public func refresh() async {
    if !engine.isRunning { start() }
    _ = await engine.syncChanges(upTo: .seconds(30))
    reload()
  }

  /// Sends what was rejected again.
  public func retryRejected() { attempt { try engine.retryParked() } }

  // MARK: Edits

  /// Adds a note; an empty text adds none.
  public func add(_ text: String) {
    if text.isEmpty { return }
    edit { try database.add(text: text) }
  }

  /// Changes a note's text.
  public func set(text: String, of note: Note) {
    if text == note.text { return }
    edit { try database.set(text: text, of: note.id) }
  }

  /// Marks a note as done, or as not done.
  public func toggle(_ note: Note) {
    edit { try database.set(isDone: !note.isDone, of: note.id) }
  }

  /// Deletes the notes at places in the list.
  public func delete(at places: some Sequence<Int>) {
    let ids = places.compactMap { notes.indices.contains($0) ? notes[$0].id : nil }
    edit { for id in ids { try database.delete(id) } }
  }

  // MARK: Parts

  private func edit(_ body: () throws -> Void) {
    attempt(body)
    reload()
    // The edit was captured: the engine is told to look.
    engine.sendChanges()
  }

  private func attempt(_ body: () throws -> Void) {
    do {
      try body()
      failure = nil
    } catch { failure = "\(error)" }
  }

  private func reload() {
    do {
      let new = try database.notes()
      if new != notes { notes = new }
    } catch { failure = "\(error)" }
  }

  /// Reads the list again when the engine has changed rows, and when it has sent some: then their status is another
  /// one.
  private func follow() {
    let changes = engine.changes.values()
    let activities = engine.activity.values(buffering: .newest)
    following = [
      Task { [weak self] in for await _ in changes { self?.reload() } },
      Task { [weak self] in for await _ in activities { self?.reload() } },
    ]
  }
}

import CloudSyncCore

/// Keeps a local cloud in one SQLite file, which several processes may use at the same time.
///
/// Every request is one transaction, with a write-ahead log beside the file: a process that is killed at
/// any moment leaves the file as it was before or after a request, and what was answered is on the disk,
/// so that a power failure does not take it. Who wants to write waits up to five seconds for others;
/// after that a request answers `zoneBusy`. Who reads waits for nobody.
///
/// A backup of the file is restored while no process has it open, without the log that lies beside it then; devices then
/// upload what it lacks.
public final class SQLiteStore: LocalCloudStore {
  /// What a test hears of while a transaction runs.
  package enum Step: Sendable, CaseIterable {
    /// A transaction that writes has begun.
    case began
    /// Something was written, and not committed.
    case wrote
    /// Everything was written, and is about to be committed.
    case committing
    /// It is committed.
    case committed
  }

  /// How many connections that read are kept open while nobody uses them.
  private static let idleReaders = 8

  /// The connection that writes.
  private let contents: Locked<SQLiteContents>
  /// Connections that read, one transaction each at a time, while nobody uses them.
  private let readers = Locked<[Locked<SQLiteContents>]>([])
  private let path: String
  private let busyMilliseconds: Int32

  /// Opens a file, and makes it a store if it is missing or empty.
  ///
  /// A file of up to 16 MB is read through and checked; of a larger one damage is found when it is
  /// met, or by ``verify()``.
  ///
  /// - Parameter path: The file; its folder must exist and be writable.
  /// - Throws: What is wrong with the file, and what to do.
  public convenience init(path: String) throws(LocalCloudStoreError) {
    try self.init(path: path, onStep: nil)
  }

  /// Opens a file with an ear for the steps of transactions.
  package init(
    path: String,
    cachePages: Int = 0,
    busyMilliseconds: Int32 = 5_000,
    onStep: (@Sendable (Step) -> Void)?
  ) throws(LocalCloudStoreError) {
    let contents = try SQLiteContents(
      path: path,
      cachePages: cachePages,
      busyMilliseconds: busyMilliseconds,
      onStep: onStep
    )
    self.contents = Locked(contents)
    self.path = path
    self.busyMilliseconds = busyMilliseconds
  }

  /// Runs a body in one transaction of SQLite's.
  ///
  /// - Throws: What the body throws, or why the file cannot be read or written; nothing that the body wrote is stored then.
  public func transaction<Value: Sendable>(
    _ kind: LocalCloudTransactionKind,
    _ body: (any LocalCloudTransaction) throws(LocalCloudStoreError) -> Value
  ) throws(LocalCloudStoreError) -> Value {
    switch kind {
    case .write: return try run(kind, on: contents, body)
    case .read:
      let reader = try reader()
      defer { readers.withLock { if $0.count < Self.idleReaders { $0.append(reader) } } }
      return try run(kind, on: reader, body)
    }
  }

  private func run<Value: Sendable>(
    _ kind: LocalCloudTransactionKind,
    on connection: Locked<SQLiteContents>,
    _ body: (any LocalCloudTransaction) throws(LocalCloudStoreError) -> Value
  ) throws(LocalCloudStoreError) -> Value {
    try connection.withLock { contents throws(LocalCloudStoreError) in
      try contents.begin(kind: kind)
      do throws(LocalCloudStoreError) {
        let value = try body(contents)
        try contents.commit()
        return value
      } catch { throw contents.abandon(error: error) }
    }
  }

  /// A connection that nobody uses.
  private func reader() throws(LocalCloudStoreError) -> Locked<SQLiteContents> {
    if let idle = readers.withLock({ $0.popLast() }) { return idle }
    return Locked(try SQLiteContents(reading: path, busyMilliseconds: busyMilliseconds))
  }

  /// A setting of the connection that writes, as SQLite has it.
  package func setting(_ name: String) throws(LocalCloudStoreError) -> Int64 {
    try contents.withLock { contents throws(LocalCloudStoreError) in try contents.setting(name) }
  }

  /// Writes what lies in the write-ahead log beside the file into the file itself, and empties the log, so that a copy of
  /// the file alone has everything.
  ///
  /// SQLite does it when the last connection is closed. A process that ends without that, as one that is killed, leaves
  /// the log, and it belongs to the file until somebody has opened and closed it. While another process uses the log, it
  /// stays as well, which is no error.
  ///
  /// - Throws: Why the file cannot be written; nothing is lost then.
  public func checkpoint() throws(LocalCloudStoreError) {
    try contents.withLock { contents throws(LocalCloudStoreError) in try contents.checkpoint() }
  }

  /// Reads the whole file and checks that its parts fit together.
  ///
  /// - Throws: A `damaged` error if they do not.
  /// - Complexity: O(*n*) in the size of the file.
  public func verify() throws(LocalCloudStoreError) {
    try contents.withLock { contents throws(LocalCloudStoreError) in
      try contents.verify()
    }
  }
}

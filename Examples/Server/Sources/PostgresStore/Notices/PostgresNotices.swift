public import CloudSyncLocalCloud
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// Lets the processes on one database hear of each other's changes, by `LISTEN` and `NOTIFY`.
///
/// They are hints, told at most every 50 milliseconds and outside of transactions: inside of them, commits
/// would wait for each other. A hint may be missed: devices fetch from time to time anyway.
///
/// It has a connection and a thread of its own. When the connection is lost it is made again, and then
/// anything may have changed meanwhile.
public final class PostgresNotices: Sendable {
  private struct State {
    var waiting = ChangeNotices()
    var isStopped = false
  }

  private static let listen = PostgresStatement("", "LISTEN cloudsync")
  private static let notify = PostgresStatement("", "SELECT pg_notify('cloudsync', $1)")
  private static let ping = PostgresStatement("", "SELECT 1")
  private static let interval: Int32 = 50
  /// How long nothing happens before the connection is tried.
  private static let quiet: Int32 = 60_000
  /// How long it waits before it connects again.
  private static let pause: Int32 = 1_000

  private let store: PostgresStore
  private let state = Mutex(State())
  /// Bytes come out of the first when there is something to do; the second takes them.
  private let wake: (reading: Int32, writing: Int32)
  private let end = DispatchSemaphore(value: 0)

  /// Prepares to listen.
  ///
  /// - Parameter store: The store whose other processes are heard.
  /// - Throws: That the system has no more file descriptors.
  public init(store: PostgresStore) throws(LocalCloudStoreError) {
    self.store = store
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw LocalCloudStoreError(.cannotAccess, "no pipe can be made: too many files are open")
    }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    wake = (ends[0], ends[1])
  }

  /// Begins to listen; to be called once.
  ///
  /// - Parameter onChange: Called on a thread of its own for each change by another process, with a zone that
  ///   is not told; with nil when anything may have changed.
  public func start(onChange: @escaping @Sendable (LocalCloudChange?) -> Void) {
    Thread.detachNewThread { self.run(onChange) }
  }

  /// Tells the other processes of a change.
  public func post(_ change: LocalCloudChange) {
    let isFirst = state.withLock { state in
      defer { state.waiting.add(change) }
      return state.waiting.isEmpty
    }
    if isFirst { signal() }
  }

  /// Tells what is still to be told, and ends; to be called once after it was started.
  public func stop() {
    state.withLock { $0.isStopped = true }
    signal()
    end.wait()
    close(wake.reading)
    close(wake.writing)
  }

  private func signal() {
    _ = [UInt8(0)].withUnsafeBytes { write(wake.writing, $0.baseAddress, 1) }
  }

  private var isStopped: Bool { state.withLock { $0.isStopped } }

  // MARK: The thread

  private func run(_ onChange: @Sendable (LocalCloudChange?) -> Void) {
    while !isStopped {
      // What a lost connection has missed cannot be known; why it was lost, requests say.
      do throws(PostgresFailure) { try serve(onChange) } catch {}
      if !isStopped { _ = wait(for: -1, milliseconds: Self.pause) }
    }
    end.signal()
  }

  private func serve(
    _ onChange: @Sendable (LocalCloudChange?) -> Void
  ) throws(PostgresFailure) {
    let connection = try store.newConnection()
    _ = try connection.run([PostgresCall(Self.listen)])
    onChange(nil)
    while true {
      let isStopped = isStopped
      let waiting = state.withLock { state in
        defer { state.waiting = ChangeNotices() }
        return state.waiting
      }
      if !waiting.isEmpty {
        do throws(PostgresFailure) { try send(waiting, by: connection) } catch {
          // Which changes they were is lost; that there were some is told by the next connection.
          state.withLock { $0.waiting.addAll() }
          throw error
        }
      }
      if isStopped { return }
      // Those that come within the interval are told together.
      if !waiting.isEmpty {
        try hear(connection, milliseconds: Self.interval, isWoken: false, onChange: onChange)
      }
      let isQuiet = try hear(
        connection,
        milliseconds: Self.quiet,
        isWoken: true,
        onChange: onChange
      )
      if isQuiet { _ = try connection.run([PostgresCall(Self.ping)]) }
    }
  }

  private func send(
    _ notices: ChangeNotices,
    by connection: PostgresConnection
  ) throws(PostgresFailure) {
    let text = notices.text(namespace: connection.namespace)
    _ = try connection.run([PostgresCall(Self.notify, .text(text))])
  }

  /// Listens for a time, or until there is something to tell; returns whether nothing happened.
  @discardableResult
  private func hear(
    _ connection: PostgresConnection,
    milliseconds: Int32,
    isWoken: Bool,
    onChange: (LocalCloudChange?) -> Void
  ) throws(PostgresFailure) -> Bool {
    let limit = ContinuousClock.now + .milliseconds(Int64(milliseconds))
    while true {
      for notice in try connection.notices() where notice.backend != connection.backend {
        ChangeNotices.changes(in: notice.text, namespace: connection.namespace).forEach(onChange)
      }
      if isWoken, state.withLock({ !$0.waiting.isEmpty || $0.isStopped }) { return false }
      let left = ContinuousClock.now.duration(to: limit)
      guard left > .zero else { return true }
      let time = Int32(clamping: left.milliseconds)
      _ = wait(for: connection.descriptor, milliseconds: time, isWoken: isWoken)
    }
  }

  /// Waits until something comes from the database, or there is something to do.
  private func wait(for descriptor: Int32, milliseconds: Int32, isWoken: Bool = true) -> Bool {
    var places = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
    if isWoken { places.append(pollfd(fd: wake.reading, events: Int16(POLLIN), revents: 0)) }
    let count = poll(&places, nfds_t(places.count), milliseconds)
    if isWoken {
      var bytes = [UInt8](repeating: 0, count: 64)
      while read(wake.reading, &bytes, bytes.count) > 0 {}
    }
    return count > 0
  }
}

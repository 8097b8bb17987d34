public import CloudSyncCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Records what a session does, for as long as it is attached to it.
///
/// ```swift
/// let recorder = EventRecorder(.ring())
/// recorder.attach(to: session)
/// // … something goes wrong on the user's device …
/// try recorder.save(to: "session.jsonl", redactor: .digests())
/// ```
///
/// Everything that comes in from outside is recorded, what it became, what was done because of it,
/// and what the app's closures decided: enough to fold the states and to run the session again without
/// the app. Recording is done on the session's executor, before the effects of an event.
public final class EventRecorder: Sendable {
  /// Where a recording goes.
  public enum Sink: Sendable {
    /// The last events, in memory; the oldest are forgotten, about a tenth of them at a time.
    ///
    /// An event keeps what it carries alive, records included; more than some thousands no longer fit
    /// into the processor's caches, and cost the session half as much again.
    case ring(capacity: Int = 2_000)
    /// Files.
    case file(LogFile)
    /// A function that is given whole lines, the line feed included, on the session's executor.
    case closure(@Sendable (Data) -> Void)
  }

  private enum Kind {
    case ring(RingRecording)
    case lines(LineRecording)
  }

  private let kind: Kind

  /// Creates a recorder.
  ///
  /// - Parameters:
  ///   - sink: Where the recording goes.
  ///   - redactor: What is hidden before a line reaches the sink. By default a file and a function
  ///     get digests instead of values; the ring is in the process, and ``save(to:redactor:)`` says
  ///     what leaves it.
  public init(_ sink: Sink, redactor: Redactor = .digests()) {
    kind =
      switch sink {
      case .ring(let capacity): .ring(RingRecording(capacity: capacity))
      case .file(let file): .lines(LineRecording(redactor: redactor, to: .file(file)))
      case .closure(let body): .lines(LineRecording(redactor: redactor, to: .closure(body)))
      }
  }

  private var observer: any SessionObserver {
    switch kind {
    case .ring(let ring): ring
    case .lines(let lines): lines
    }
  }

  /// Begins to record, with the next thing that comes into the session.
  ///
  /// A recorder records one session at a time; being attached again to the same one changes nothing.
  public func attach(to session: CloudSyncSession) { session.attach(observer) }

  /// Ends recording, after everything that was called before.
  ///
  /// The log is closed with a digest; to be attached again begins another log.
  public func detach(from session: CloudSyncSession) { session.detach(observer) }

  /// Writes what is buffered to the file, and has it reach the disk.
  ///
  /// - Throws: What went wrong with the file, also earlier.
  public func flush() throws(LogError) {
    if case .lines(let lines) = kind { try lines.flush() }
  }

  /// The recording as a log: of a ring, what it still has.
  ///
  /// - Returns: The bytes of a log, or nil if nothing was recorded or the sink is not a ring.
  public func data(redactor: Redactor = .digests()) -> Data? {
    guard case .ring(let ring) = kind else { return nil }
    return ring.log(redactor)
  }

  /// Saves what a ring has as a file; an older file is replaced as a whole.
  ///
  /// - Throws: ``LogError/Code/empty`` if nothing was recorded in memory, or what went wrong with the file.
  public func save(to path: String, redactor: Redactor = .digests()) throws(LogError) {
    guard let data = data(redactor: redactor) else {
      throw LogError(
        .empty,
        log: path,
        "nothing was recorded in memory: attach a ring to a session"
      )
    }
    try LogFile.write(data, to: path)
  }
}

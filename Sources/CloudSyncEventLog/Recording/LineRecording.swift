import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A session's events as lines that go to a file or to a function as they happen.
final class LineRecording: SessionObserver {
  enum Target {
    case file(LogFile)
    case closure(@Sendable (Data) -> Void)
  }

  private struct Contents {
    var writer: StepWriter
    var middleware: [String] = []
    var part = 1
  }

  private let target: Target
  private let contents: Locked<Contents>

  init(redactor: Redactor, to target: Target) {
    self.target = target
    contents = Locked(Contents(writer: StepWriter(redactor)))
  }

  deinit {
    contents.withLock { pass(&$0) }
  }

  func begin(_ state: SyncState, middleware: [String], at time: Timestamp) {
    contents.withLock { contents in
      contents.middleware = middleware
      if case .file(let file) = target { contents.part = file.beginPart(isFirst: true) }
      contents.writer.begin(state: state, middleware: middleware, at: time, part: contents.part)
      pass(&contents)
    }
  }

  func observe(_ step: ObservedStep) {
    contents.withLock { contents in
      contents.writer.write(step)
      pass(&contents, all: false)
      guard case .file(let file) = target, file.isFull(with: contents.writer.count) else { return }
      // Each file is a log by itself: it ends with a digest, and the next begins with the state.
      let digest = contents.writer.end(state: step.state, isContinued: true)
      pass(&contents)
      contents.part = file.beginPart()
      contents.writer.begin(
        state: step.state,
        middleware: contents.middleware,
        at: step.record.time,
        part: contents.part,
        previous: .init(name: file.nameOfPreviousPart, digest: digest)
      )
      pass(&contents)
    }
  }

  func chainDidChange(_ middleware: [String], after sequence: UInt64, at time: Timestamp) {
    contents.withLock { contents in
      contents.middleware = middleware
      contents.writer.writeChain(names: middleware, after: sequence, at: time)
      pass(&contents)
    }
  }

  func end(_ state: SyncState) {
    contents.withLock { contents in
      contents.writer.end(state: state)
      pass(&contents)
      if case .file(let file) = target { file.endPart() }
    }
  }

  func flush() throws(LogError) {
    guard case .file(let file) = target else { return }
    contents.withLock { pass(&$0) }
    try file.flush()
  }

  /// Passes the lines on: to a file when there are enough of them, or when all have to go.
  private func pass(_ contents: inout Contents, all: Bool = true) {
    guard contents.writer.count > 0 else { return }
    switch target {
    case .file(let file):
      if all || contents.writer.count >= file.bufferSize || file.durability == .everyEvent {
        contents.writer.drain { file.append($0) }
      }
    case .closure(let body): body(contents.writer.drainData())
    }
  }
}

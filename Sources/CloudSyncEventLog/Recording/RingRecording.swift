import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The last events of a session, as values: nothing is coded until somebody wants to see them.
final class RingRecording: SessionObserver {
  /// A stretch of events and the state before them.
  private struct Segment {
    var state: SyncState
    var middleware: [String]
    var time: Timestamp
    var entries: [Entry] = []
  }

  private enum Entry {
    case step(Step)
    case chain([String], after: UInt64, at: Timestamp)
  }

  /// What was observed, without the state: a state that is kept is one that the session must copy.
  private struct Step {
    var input: SyncEvent?
    var record: EventRecord
    var effects: ObservedEffects
  }

  private struct Contents {
    var segments: [Segment] = []
    var middleware: [String] = []
    /// The state after the last event of a full segment, with which the next one begins.
    var next: SyncState?
  }

  private let segmentSize: Int
  private let segmentCount = 11
  private let contents = Locked(Contents())

  init(capacity: Int) {
    precondition(capacity > 0, "A ring must hold at least one event: give it a larger capacity.")
    // One segment is being filled while ten are full.
    segmentSize = (capacity - 1) / 10 + 1
  }

  func begin(_ state: SyncState, middleware: [String], at time: Timestamp) {
    contents.withLock { contents in
      contents = Contents()
      contents.middleware = middleware
      contents.segments = [Segment(state: state, middleware: middleware, time: time)]
    }
  }

  func observe(_ step: ObservedStep) {
    contents.withLock { contents in
      if let state = contents.next {
        beginSegment(state: state, at: step.record.time, in: &contents)
      }
      let last = contents.segments.count - 1
      let entry = Step(input: step.input, record: step.record, effects: step.effects)
      contents.segments[last].entries.append(.step(entry))
      // The states in between are folded again when they are wanted.
      if contents.segments[last].entries.count >= segmentSize { contents.next = step.state }
    }
  }

  private func beginSegment(state: SyncState, at time: Timestamp, in contents: inout Contents) {
    contents.next = nil
    if contents.segments.count == segmentCount { contents.segments.removeFirst() }
    contents.segments.append(Segment(state: state, middleware: contents.middleware, time: time))
    contents.segments[contents.segments.count - 1].entries.reserveCapacity(segmentSize)
  }

  func chainDidChange(_ middleware: [String], after sequence: UInt64, at time: Timestamp) {
    contents.withLock { contents in
      contents.middleware = middleware
      contents.segments[contents.segments.count - 1].entries
        .append(.chain(middleware, after: sequence, at: time))
    }
  }

  func end(_ state: SyncState) {}

  /// What is kept, as the bytes of a log; nil if nothing was ever recorded.
  func log(_ redactor: Redactor) -> Data? {
    let contents = contents.withLock { $0 }
    guard let first = contents.segments.first else { return nil }
    var writer = StepWriter(redactor)
    writer.begin(state: first.state, middleware: first.middleware, at: first.time)
    var state = first.state
    for segment in contents.segments {
      for entry in segment.entries {
        switch entry {
        case .step(let step):
          state.reduce(step.record.event, at: step.record.time)
          let effects = step.effects.records(in: state)
          writer.write(step.record, input: step.input, effects: effects, state: state)
        case .chain(let names, let sequence, let time):
          writer.writeChain(names: names, after: sequence, at: time)
        }
      }
    }
    writer.end(state: state)
    return writer.drainData()
  }
}

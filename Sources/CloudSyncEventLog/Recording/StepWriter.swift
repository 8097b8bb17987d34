import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes what a session did as the lines of a log.
struct StepWriter {
  private var writer: LineWriter
  private let redactor: Redactor
  /// Where the input of a step is written to see whether it differs.
  private var scratch: LineWriter
  private var bytesSinceDigest = 0
  private var eventsSinceDigest = 0
  /// How large the state was when it was last looked at.
  private var stateSize = 0
  private(set) var lastSequence: UInt64 = 0
  /// Of all lines of the present part.
  private var lineDigest = LineDigest()

  /// A digest costs as much as the state is large: so many times as much must have been written
  /// since the one before.
  private static let digestFactor = 4
  /// A digest is due after so many events at the latest.
  private static let digestDistance = 10_000

  init(_ redactor: Redactor) {
    self.redactor = redactor
    writer = LineWriter(redactor: redactor.active)
    scratch = LineWriter(redactor: redactor.active)
  }

  /// How many bytes the lines have that have not been taken.
  var count: Int { writer.count }

  /// Gives the lines to a function, and forgets them.
  mutating func drain(_ body: (UnsafeRawBufferPointer) -> Void) {
    writer.withBytes(body)
    writer.removeAll()
  }

  mutating func drainData() -> Data {
    var data = Data()
    drain { data.append(contentsOf: $0) }
    return data
  }

  mutating func begin(
    state: SyncState,
    middleware: [String],
    at time: Timestamp,
    part: Int = 1,
    previous: LogHeader.PreviousPart? = nil
  ) {
    let start = writer.count
    lineDigest = LineDigest()
    let header = LogHeader(
      time: time,
      middleware: middleware,
      redaction: redactor.redaction,
      part: part,
      previous: previous,
      state: state
    )
    write(.header(header))
    stateSize = writer.count - start
    bytesSinceDigest = 0
    eventsSinceDigest = 0
    lastSequence = state.eventCount
  }

  mutating func write(_ step: ObservedStep) {
    let effects = step.effects.records(in: step.state)
    write(step.record, input: step.input, effects: effects, state: step.state)
  }

  mutating func write(
    _ record: EventRecord,
    input: SyncEvent?,
    effects: [EffectRecord],
    state: SyncState
  ) {
    let start = writer.count
    if let input { write(input, of: record) }
    write(.event(record))
    if !effects.isEmpty {
      write(.effect(LogEffects(sequence: record.sequence, effects: effects)))
    }
    lastSequence = record.sequence
    bytesSinceDigest += writer.count - start
    eventsSinceDigest += 1
    if bytesSinceDigest > Self.digestFactor * stateSize || eventsSinceDigest >= Self.digestDistance
    {
      writeDigest(of: state)
    }
  }

  private mutating func write(_ input: SyncEvent, of record: EventRecord) {
    let content: LogInput.Content =
      isReduced(input: input, as: record.event) ? .asReduced : .event(input)
    write(
      .input(
        LogInput(
          sequence: record.sequence,
          time: record.time,
          origin: record.origin,
          content: content
        )
      )
    )
  }

  /// Whether no middleware has changed an event.
  private mutating func isReduced(input: SyncEvent, as event: SyncEvent) -> Bool {
    guard input.caseIndex == event.caseIndex else { return false }
    // What is the same is written the same: nearly always, and cheaper to find out than by the text.
    if input == event { return true }
    scratch.removeAll()
    input.write(to: &scratch)
    let end = scratch.count
    scratch.beginLine()
    event.write(to: &scratch)
    return scratch.withBytes { bytes in
      2 * end == bytes.count && bytes[..<end].elementsEqual(bytes[end...])
    }
  }

  mutating func writeChain(names: [String], after sequence: UInt64, at time: Timestamp) {
    write(
      .input(
        LogInput(sequence: sequence, time: time, origin: .call, content: .middleware(names))
      )
    )
  }

  /// Ends a part of the log, and returns the digest of all its bytes.
  @discardableResult
  mutating func end(state: SyncState, isContinued: Bool = false) -> UInt64 {
    writeDigest(of: state, isEnd: true, isContinued: isContinued)
    return lineDigest.value
  }

  private mutating func writeDigest(
    of state: SyncState,
    isEnd: Bool = false,
    isContinued: Bool = false
  ) {
    var digest = SkeletonDigest()
    state.write(to: &digest)
    write(
      .digest(
        LogDigest(
          sequence: state.eventCount,
          digest: digest.value,
          bytes: lineDigest.value,
          isEnd: isEnd,
          isContinued: isContinued
        )
      )
    )
    stateSize = 8 * digest.wordCount
    bytesSinceDigest = 0
    eventsSinceDigest = 0
  }

  private mutating func write(_ line: LogLine) {
    let start = writer.count
    writer.beginLine()
    line.write(to: &writer)
    // The writer stays in place only beside a digest that is no part of this: otherwise it is copied.
    var digest = lineDigest
    writer.withBytes { digest.add(line: UnsafeRawBufferPointer(rebasing: $0[start...])) }
    lineDigest = digest
    writer.endLine()
  }
}

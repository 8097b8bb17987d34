#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A session as it was stored: what a snapshot or a journal holds.
///
/// The bytes are frames, one after the other. Each begins with its kind (1 for a state, 2 for an
/// event), the length of its payload and the payload's CRC-32, both as four bytes, the lowest
/// first. A state frame's payload begins with the format version, ``formatVersion``. A
/// snapshot is one state frame; a journal is a state frame and the event frames that followed it. A
/// later state frame replaces what came before it, so snapshots and journals may be joined.
///
/// What a crash or a loss of power leaves at the end of the bytes is left out and counted in
/// ``tornBytes``: a frame that is cut off, zeros, or anything else after which no whole frame comes.
/// Damage with a whole frame behind it is an error that names the offset.
public struct SyncArchive: Sendable {
  /// The version of the format that this package writes, and the only one that it reads.
  public static let formatVersion = SyncState.formatVersion

  /// The state after the last whole frame.
  public let state: SyncState
  /// How many events were reduced on the way to it.
  public let eventCount: Int
  /// How many bytes at the end are no whole frame; cut them off before appending to the same file.
  public let tornBytes: Int

  private static let headerSize = 9
  private static let stateKind: UInt8 = 1
  private static let eventKind: UInt8 = 2

  /// Reads the bytes of a snapshot or a journal.
  ///
  /// - Throws: An error that names the offset and what is wrong there; also when there is no state
  ///   at all.
  public init(_ data: Data) throws(CodedError) {
    let bytes = [UInt8](data)
    var offset = 0
    var state: SyncState?
    var events = 0
    frames: while offset < bytes.count {
      let frame: Frame
      switch Self.frame(in: bytes, at: offset) {
      case .success(let found): frame = found
      case .failure(let damage):
        if Self.hasWholeFrame(in: bytes, after: offset, following: state) { throw damage }
        break frames
      }
      do {
        if frame.kind == Self.stateKind {
          state = try Self.readState(bytes: bytes, payload: frame.payload)
          events = 0
        } else {
          try Self.reduce(bytes: bytes, payload: frame.payload, into: &state)
          events += 1
        }
      } catch {
        throw CodedError(
          place: "the frame at byte \(offset), \(error.place)",
          reason: error.reason
        )
      }
      offset = frame.payload.upperBound
    }
    guard let state else {
      throw CodedError(place: "byte \(offset)", reason: "there is no whole state in the bytes")
    }
    self.state = state
    eventCount = events
    tornBytes = bytes.count - offset
  }

  /// Where a frame's payload is.
  private struct Frame {
    var kind: UInt8
    var payload: Range<Int>
  }

  /// Finds the frame that begins at an offset.
  private static func frame(in bytes: [UInt8], at offset: Int) -> Result<Frame, CodedError> {
    unchecked(in: bytes, at: offset)
      .flatMap { frame in
        isChecked(frame, in: bytes)
          ? .success(frame)
          : .failure(CodedError(place: "byte \(offset)", reason: "the frame's checksum is wrong"))
      }
  }

  /// Whether a frame's payload has the checksum that stands before it.
  private static func isChecked(_ frame: Frame, in bytes: [UInt8]) -> Bool {
    CRC32.checksum(of: bytes[frame.payload]) == number(in: bytes, at: frame.payload.lowerBound - 4)
  }

  /// Finds where a frame that begins at an offset would end, by its header alone.
  private static func unchecked(in bytes: [UInt8], at offset: Int) -> Result<Frame, CodedError> {
    func damage(_ reason: String) -> Result<Frame, CodedError> {
      .failure(CodedError(place: "byte \(offset)", reason: reason))
    }
    let kind = bytes[offset]
    guard kind == stateKind || kind == eventKind else {
      return damage("\(kind) is no kind of frame")
    }
    let start = offset + headerSize
    guard start <= bytes.count else { return damage("the bytes end within the frame's header") }
    // Every payload has bytes: a header of zeros, whose checksum would be right, is damage. A
    // damaged length may be more than an Int of 32 bits holds.
    guard let length = Int(exactly: number(in: bytes, at: offset + 1)), length > 0 else {
      return damage("the frame has no possible length")
    }
    guard length <= bytes.count - start else { return damage("the bytes end within the frame") }
    return .success(Frame(kind: kind, payload: start..<start + length))
  }

  /// Whether something that was written after a damaged place can be read: then the place is not
  /// the end that a crash has torn, and to leave it out would lose what follows.
  private static func hasWholeFrame(
    in bytes: [UInt8],
    after offset: Int,
    following state: SyncState?
  ) -> Bool {
    for place in offset + 1..<bytes.count
    where bytes[place] == stateKind || bytes[place] == eventKind {
      guard case .success(let frame) = unchecked(in: bytes, at: place) else { continue }
      // Read first, which ends after a few bytes of anything else. What an app has in a field may look
      // like headers of long frames at every byte: their checksums would take hours. Both are asked for,
      // as a checksum of 32 bits is right by chance now and then.
      if isReadable(frame, in: bytes, following: state), isChecked(frame, in: bytes) { return true }
    }
    return false
  }

  /// Whether a frame holds a state, or an event that comes after a state.
  private static func isReadable(
    _ frame: Frame,
    in bytes: [UInt8],
    following state: SyncState?
  ) -> Bool {
    if frame.kind == stateKind {
      return (try? readState(bytes: bytes, payload: frame.payload)) != nil
    }
    guard let record = try? readEvent(bytes: bytes, payload: frame.payload) else { return false }
    return record.sequence > state?.eventCount ?? 0
  }

  private static func readState(
    bytes: [UInt8],
    payload: Range<Int>
  ) throws(CodedError) -> SyncState {
    var reader = BinaryReader(bytes, from: payload.lowerBound, to: payload.upperBound)
    let version = try reader.readUInt64()
    guard version == UInt64(formatVersion) else {
      throw reader.failure("the format has version \(version), this package reads \(formatVersion)")
    }
    let state = try SyncState(from: &reader)
    guard reader.isAtEnd else { throw reader.failure("bytes are left over") }
    return state
  }

  private static func reduce(
    bytes: [UInt8],
    payload: Range<Int>,
    into state: inout SyncState?
  ) throws(CodedError) {
    let record = try readEvent(bytes: bytes, payload: payload)
    guard let last = state?.eventCount else {
      throw CodedError(place: "its sequence", reason: "an event stands before the first state")
    }
    guard record.sequence == last + 1 else {
      throw CodedError(
        place: "its sequence",
        reason: "event \(record.sequence) follows event \(last)"
      )
    }
    state?.reduce(record.event, at: record.time)
  }

  private static func readEvent(
    bytes: [UInt8],
    payload: Range<Int>
  ) throws(CodedError) -> EventRecord {
    var reader = BinaryReader(bytes, from: payload.lowerBound, to: payload.upperBound)
    let record = try EventRecord(from: &reader)
    guard reader.isAtEnd else { throw reader.failure("bytes are left over") }
    return record
  }

  // MARK: Writing

  package static func frame(of state: SyncState) -> Data {
    var writer = BinaryWriter(reserving: 4096)
    writer.write(UInt64(formatVersion))
    state.write(to: &writer)
    return frame(kind: stateKind, payload: writer.bytes)
  }

  static func frame(of record: EventRecord) -> Data {
    var writer = BinaryWriter()
    record.write(to: &writer)
    return frame(kind: eventKind, payload: writer.bytes)
  }

  private static func frame(kind: UInt8, payload: [UInt8]) -> Data {
    var frame = Data(capacity: headerSize + payload.count)
    frame.append(kind)
    append(UInt32(truncatingIfNeeded: payload.count), to: &frame)
    append(CRC32.checksum(of: payload[...]), to: &frame)
    frame.append(contentsOf: payload)
    return frame
  }

  private static func append(_ number: UInt32, to data: inout Data) {
    for shift: UInt32 in [0, 8, 16, 24] { data.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  private static func number(in bytes: [UInt8], at offset: Int) -> UInt32 {
    UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset + 2]) << 16
      | UInt32(bytes[offset + 3]) << 24
  }
}

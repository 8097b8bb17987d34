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
/// A frame that is torn at the end of the bytes, as a crash leaves it, is left out and counted in
/// ``tornBytes``. Any other damage is an error that names the offset.
public struct SyncArchive: Sendable {
  /// The version of the format that this package writes, and the only one that it reads.
  public static let formatVersion = SyncState.formatVersion

  /// The state after the last whole frame.
  public let state: SyncState
  /// How many events were reduced on the way to it.
  public let eventCount: Int
  /// How many bytes at the end belong to a torn frame.
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
    while offset < bytes.count {
      guard let frame = try Self.frame(in: bytes, at: offset) else { break }
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

  /// Finds a frame; nil if the bytes end within it.
  private static func frame(
    in bytes: [UInt8],
    at offset: Int
  ) throws(CodedError) -> (kind: UInt8, payload: Range<Int>)? {
    let kind = bytes[offset]
    guard kind == stateKind || kind == eventKind else {
      throw CodedError(place: "byte \(offset)", reason: "\(kind) is no kind of frame")
    }
    guard bytes.count - offset >= headerSize else { return nil }
    let start = offset + headerSize
    // A damaged length may be more than an Int of 32 bits holds.
    guard let length = Int(exactly: number(bytes, at: offset + 1)), length <= bytes.count - start
    else { return nil }
    let payload = start..<start + length
    guard CRC32.checksum(of: bytes[payload]) == number(bytes, at: offset + 5) else {
      // A crash may leave the right length with the wrong content, but only at the very end.
      if payload.upperBound == bytes.count { return nil }
      throw CodedError(place: "byte \(offset)", reason: "the frame's checksum is wrong")
    }
    return (kind, payload)
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
    var reader = BinaryReader(bytes, from: payload.lowerBound, to: payload.upperBound)
    let record = try EventRecord(from: &reader)
    guard reader.isAtEnd else { throw reader.failure("bytes are left over") }
    guard let last = state?.eventCount else {
      throw reader.failure("an event stands before the first state")
    }
    guard record.sequence == last + 1 else {
      throw reader.failure("event \(record.sequence) follows event \(last)")
    }
    state?.reduce(record.event, at: record.time)
  }

  // MARK: Writing

  package static func frame(of state: SyncState) -> Data {
    var writer = BinaryWriter(reserving: 4096)
    writer.write(UInt64(formatVersion))
    state.write(to: &writer)
    return frame(stateKind, payload: writer.bytes)
  }

  static func frame(of record: EventRecord) -> Data {
    var writer = BinaryWriter()
    record.write(to: &writer)
    return frame(eventKind, payload: writer.bytes)
  }

  private static func frame(_ kind: UInt8, payload: [UInt8]) -> Data {
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

  private static func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
    UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset + 2]) << 16
      | UInt32(bytes[offset + 3]) << 24
  }
}

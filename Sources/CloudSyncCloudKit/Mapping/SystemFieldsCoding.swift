#if canImport(CloudKit)
import CloudKit
import CloudSyncCore
import Foundation

/// The bytes of a record's system fields, with a checksum and the change tag before them.
///
/// They are the version of the form, the CRC-32 of what follows, the length of the change tag in two bytes, both
/// with the lowest byte first, the tag, and what CloudKit has archived. Damaged bytes never get to CloudKit's
/// decoder, and the tag is known without it.
enum SystemFieldsCoding {
  private static let version: UInt8 = 1
  private static let headerSize = 7

  /// The bytes of a record that has a change tag.
  static func bytes(of record: CKRecord) -> Data? {
    guard let tag = record.recordChangeTag, let length = UInt16(exactly: tag.utf8.count) else {
      return nil
    }
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: archiver)
    archiver.finishEncoding()
    var body: [UInt8] = [UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8)]
    body += tag.utf8
    body += archiver.encodedData
    let checksum = CRC32.checksum(of: body[...])
    let sum = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: checksum >> UInt32($0)) }
    return Data([version] + sum + body)
  }

  /// The change tag that bytes are of; nil if they are damaged.
  static func changeTag(in bytes: Data) -> String? { parts(of: bytes)?.tag }

  /// The record without values that bytes were made of.
  ///
  /// - Parameters:
  ///   - bytes: What ``bytes(of:)`` gave.
  ///   - edit: The edit that is to be made of the record.
  ///   - identifiers: Translates the record's ID.
  /// - Returns: The record; nil if the bytes are damaged, or of another record or version.
  static func record(
    from bytes: Data,
    for edit: Record,
    identifiers: CloudKitIdentifiers
  ) -> CKRecord? {
    guard let (tag, archive) = parts(of: bytes), UTF8Bytes.equal(tag, edit.changeTag) else {
      return nil
    }
    let unarchiver: NSKeyedUnarchiver
    // The store is a cache: what cannot be read is looked up, and replaced.
    do { unarchiver = try NSKeyedUnarchiver(forReadingFrom: archive) } catch { return nil }
    unarchiver.requiresSecureCoding = true
    defer { unarchiver.finishDecoding() }
    guard let record = CKRecord(coder: unarchiver),
      identifiers.recordID(record.recordID) == edit.recordID,
      UTF8Bytes.equal(record.recordChangeTag, edit.changeTag)
    else { return nil }
    return record
  }

  private static func parts(of data: Data) -> (tag: String, archive: Data)? {
    let bytes = [UInt8](data)
    guard bytes.count >= headerSize, bytes[0] == version else { return nil }
    var checksum: UInt32 = 0
    for index in 0..<4 { checksum |= UInt32(bytes[1 + index]) << UInt32(8 * index) }
    guard CRC32.checksum(of: bytes[5...]) == checksum else { return nil }
    let end = headerSize + (Int(bytes[5]) | Int(bytes[6]) << 8)
    guard end <= bytes.count else { return nil }
    return (String(decoding: bytes[headerSize..<end], as: UTF8.self), Data(bytes[end...]))
  }
}

extension ChangeToken {
  /// A token of CloudKit's.
  init?(_ token: CKServerChangeToken) {
    // One that cannot be archived cannot be kept: the page fails.
    guard
      let bytes = try? NSKeyedArchiver.archivedData(
        withRootObject: token,
        requiringSecureCoding: true
      )
    else { return nil }
    self.init(bytes)
  }

  /// CloudKit's token; nil if the bytes are not those of one.
  var serverChangeToken: CKServerChangeToken? {
    // Bytes of whatever kind are what a token of another cloud has, or a database that was damaged.
    (try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: bytes))
      ?? nil
  }
}
#endif

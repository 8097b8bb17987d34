import CloudSyncCore
import CloudSyncSQLiteSupport

/// The record that tells one incarnation of a zone from another.
///
/// Whoever first finds a zone without it saves it, without a tag: so all agree on one. Tags and tokens are of
/// an incarnation: from another one on, nothing that was acknowledged counts.
package struct ZoneRecord: Sendable, Hashable {
  package static let name = "cloudsync_zone"
  private static let incarnationField = "cloudsync_incarnation"
  private static let erasureField = "cloudsync_erases"

  /// A number that no other incarnation is likely to have.
  var incarnation: Int64
  /// Whether the zone was made anew by an app that had decided to erase everybody's rows.
  var erases: Bool

  init(incarnation: Int64, erases: Bool) {
    self.incarnation = incarnation
    self.erases = erases
  }

  /// Reads a record; nil if it is another one, or none that this version knows.
  init?(_ record: Record) {
    guard Self.isName(record.recordID.name),
      case .int64(let number)? = record[Self.incarnationField]
    else { return nil }
    incarnation = number
    erases = record[Self.erasureField] == .int64(1)
  }

  static func isName(_ name: String) -> Bool { UTF8Bytes.equal(name, Self.name) }

  func record(in zoneID: ZoneID) -> Record {
    var record = Record(
      recordType: Self.name,
      recordID: RecordID(name: Self.name, zoneID: zoneID)
    )
    record[Self.incarnationField] = .int64(incarnation)
    if erases { record[Self.erasureField] = .int64(1) }
    return record
  }
}

import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What tells a database's file from a copy of it.
enum FileIdentity {
  /// The identity as a value: the numbers of the file and its volume, or that there is no file.
  static func text(of connection: SQLiteConnection) throws(SQLiteError) -> SQLiteValue {
    let path =
      try connection.prepare("SELECT file FROM pragma_database_list WHERE name = 'main'")
      .mapRows { $0.text(0) }.first ?? nil
    guard let path, !path.isEmpty,
      let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let file = attributes[.systemFileNumber], let volume = attributes[.systemNumber]
    else { return .text("none") }
    return .text("\(volume):\(file)")
  }
}

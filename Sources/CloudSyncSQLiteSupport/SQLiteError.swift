#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// What SQLite says went wrong.
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of thing went wrong, as far as callers treat it differently.
  package enum Kind: Sendable, Hashable {
    /// Another connection holds a lock.
    case busy
    /// The file is no database.
    case notADatabase
    /// The file is damaged.
    case damaged
    /// The disk is full.
    case full
    /// The file, its folder or the connection cannot be written.
    case readOnly
    /// The file cannot be opened.
    case cannotOpen
    /// A rule of a table does not hold: unique, not null, check, or a trigger said no.
    case constraint
    /// A foreign key points nowhere.
    case foreignKey
    /// The file cannot be read or written now: an input or output error, or a device that is locked.
    ///
    /// While Apple's file protection keeps the keys of a file, its reads and writes fail so.
    case unavailable
    /// Work was interrupted.
    case interrupted
    /// Anything else.
    case other
  }

  /// The extended result code.
  package let code: Int32
  /// SQLite's words.
  package let message: String
  /// The statement, if it was one.
  package let sql: String?

  package init(code: Int32, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  package var kind: Kind {
    if code == SQLITE_CONSTRAINT | (3 << 8) { return .foreignKey }
    return switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_NOTADB: .notADatabase
    case SQLITE_CORRUPT: .damaged
    case SQLITE_FULL: .full
    case SQLITE_IOERR, SQLITE_AUTH: .unavailable
    case SQLITE_READONLY, SQLITE_PERM: .readOnly
    case SQLITE_CANTOPEN: .cannotOpen
    case SQLITE_CONSTRAINT: .constraint
    case SQLITE_INTERRUPT: .interrupted
    default: .other
    }
  }

  package var description: String {
    let words = "\(message) (SQLite \(code))"
    return sql.map { "\(words) in: \($0)" } ?? words
  }
}

extension SQLiteError {
  /// Whether the path of the database leads to a folder, which SQLite may open and cannot read.
  package func isOfFolder(at path: String?) -> Bool {
    guard kind == .unavailable || kind == .cannotOpen, let path, !path.isEmpty else { return false }
    return (try? FileManager.default.attributesOfItem(atPath: path + "/.")) != nil
  }
}

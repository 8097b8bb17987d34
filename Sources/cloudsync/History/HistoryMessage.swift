import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the tool says of a commit, in its meta.
struct HistoryMessage: Codable {
  var message: String

  init(_ message: String) { self.message = message }

  /// Nil if the meta is not JSON with a message.
  init?(meta: String) {
    guard let value = try? JSONDecoder().decode(Self.self, from: Data(meta.utf8)) else {
      return nil
    }
    self = value
  }

  func meta() throws -> String { try JSONText.line(for: self) }
}

extension FieldValue {
  /// The value as SQL writes it.
  var sqlText: String { column?.literal ?? "?" }
}

/// A commit for scripts.
struct ChangesetReport: Encodable {
  var id: String
  var parents: [String]
  var kind: String
  var branch: String
  var generation: Int
  var time: String
  var replica: String?
  var meta: String
  var reverts: String?
  var originals: [String]?
  var isPushed: Bool

  init(_ changeset: Changeset) {
    id = changeset.id.description
    parents = changeset.parents.map(\.description)
    kind = changeset.kind.rawValue
    branch = changeset.branch
    generation = changeset.generation
    time = HistoryWords.time(changeset)
    replica = changeset.replica
    meta = changeset.meta
    reverts = changeset.reverts?.description
    originals = changeset.originals.isEmpty ? nil : changeset.originals.map(\.description)
    isPushed = changeset.isPushed
  }
}

/// A row that the tables here do not take, for scripts.
struct ParkedReport: Encodable {
  var table: String
  var key: [String]
  var reason: String

  init(_ parked: ChangesetStatus.Parked) {
    table = parked.table
    key = parked.key.map(\.sqlText)
    reason = parked.reason
  }
}

/// A changed row for scripts; values are as SQL writes them.
struct RowChangeReport: Encodable {
  struct Cell: Encodable {
    var column: String
    var old: String
    var new: String
  }

  var table: String
  var key: [String]
  var kind: String
  var cells: [Cell]

  init(_ change: RowChange) {
    table = change.table
    key = change.key.map(\.sqlText)
    kind = change.kind.rawValue
    cells = change.cells.map { Cell(column: $0.column, old: $0.old.sqlText, new: $0.new.sqlText) }
  }
}

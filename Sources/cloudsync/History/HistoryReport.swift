import CloudSyncChangesets
import CloudSyncCore
import CloudSyncEventLog
import CloudSyncSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes a history as one page of HTML that needs nothing else: its graph, its commits, the rows that they
/// changed, and who wrote a row.
///
/// Nothing that is in a history can become markup or script of the page. The same history gives the same bytes.
struct HistoryReport {
  /// How many commits a block of the page has.
  private static let blockSize = 200

  let repository: ChangesetRepository
  let title: String
  /// The most commits, the newest first, and the most rows of one of them.
  var mostCommits = 2_000
  var mostRows = 200

  /// Writes the page as a file, which replaces an older one as a whole; returns how many commits it has.
  func write(to path: String) throws -> Int {
    let file = try ReportFile(path: path)
    do {
      let count = try write { try file.append($0) }
      try file.finish()
      return count
    } catch {
      file.discard()
      throw error
    }
  }

  private func write(sink: (Data) throws -> Void) throws -> Int {
    let log = try repository.log(LogQuery(isOfAllBranches: true, count: mostCommits + 1))
    let shown = Array(log.prefix(mostCommits))
    let names = try ReportedNames(repository: repository)
    let conflicts = Dictionary(grouping: try repository.conflictsOfAllBranches(), by: \.merge)
    try sink(Data(Self.template.beginning(title: title).utf8))
    let about = try ReportedHistory(repository, shown: shown, isAll: log.count == shown.count)
    try sink(ReportBlock.script(kind: "about", json: Array(try JSONText.line(for: about).utf8)))
    for start in stride(from: 0, to: shown.count, by: Self.blockSize) {
      let block = try shown[start..<min(start + Self.blockSize, shown.count)]
        .map { changeset in
          ReportedCommit(
            changeset,
            changes: try changes(of: changeset),
            most: mostRows,
            refs: names.names(of: changeset.id),
            conflicts: conflicts[changeset.id] ?? []
          )
        }
      try sink(ReportBlock.script(kind: "commits", json: Array(try JSONText.line(for: block).utf8)))
    }
    try sink(Data(Self.template.end.utf8))
    return shown.count
  }

  /// Nil if they were removed from this copy.
  private func changes(of changeset: Changeset) throws -> [RowChange]? {
    do throws(ChangesetError) { return try repository.show(Revision(changeset.id)).changes } catch {
      guard error.code == .historyTooShort else { throw error }
      return nil
    }
  }

  private static let template = PageTemplate(
    html: PackageResources.history_html,
    styles: [ReportPage.style, PackageResources.history_css],
    scripts: [
      PackageResources.data_js, PackageResources.graph_js, PackageResources.panels_js,
      PackageResources.controls_js,
    ]
  )
}

/// What the page says of the history as a whole.
private struct ReportedHistory: Encodable {
  var about: String
  var head: String?
  var totals: [[String]]
  var notes: [String]

  init(_ repository: ChangesetRepository, shown: [Changeset], isAll: Bool) throws {
    let status = try repository.status()
    let place = status.head.id.map { " at \($0.short)" } ?? ", nothing committed"
    about = "\(status.head.isDetached ? "detached from" : "on") \(status.head.branch)\(place)"
    head = status.head.uuid
    let branches = try repository.branches().count
    totals = [
      ["commits", isAll ? "\(shown.count)" : "\(shown.count)+"], ["branches", "\(branches)"],
      ["tags", "\(try repository.tags().count)"],
    ]
    notes = []
    if !isAll { notes.append("The page has the newest \(shown.count) commits.") }
    let rows = status.tables.reduce(0) { $0 + $1.inserted + $1.updated + $1.deleted }
    if rows > 0 { notes.append("\(Phrase.count(rows, "row")) not committed, and not in the page.") }
    if status.heads.count > 1 { notes.append("\(status.heads.count) heads are to be merged.") }
    if status.waitingCount > 0 {
      notes.append("\(Phrase.count(status.waitingCount, "commit")) wait for others before them.")
    }
  }
}

/// The names that commits have: of branches, tags, and HEAD.
private struct ReportedNames {
  private var names: [ChangesetID: [String]] = [:]

  init(repository: ChangesetRepository) throws {
    if let id = try repository.head().id { names[id] = ["HEAD"] }
    for branch in try repository.branches() {
      for head in branch.heads { names[head, default: []].append(branch.name) }
    }
    for tag in try repository.tags() { names[tag.id, default: []].append("tag \(tag.name)") }
  }

  func names(of id: ChangesetID) -> [String] { (names[id] ?? []).map { ReportedText.cut($0) } }
}

/// A commit of the page.
private struct ReportedCommit: Encodable {
  struct Change: Encodable {
    var table: String
    var key: String
    var kind: String
    var cells: [Cell]
  }

  struct Cell: Encodable {
    var column: String
    var old: String
    var new: String
  }

  struct Conflict: Encodable {
    var table: String
    var key: String
    var kind: String
    var isSetAside: Bool
    var cells: [Lost]
  }

  struct Lost: Encodable {
    var column: String
    var kept: String
    var lost: String
  }

  var id: String
  var parents: [String]
  var kind: String
  var branch: String
  var time: String
  var replica: String?
  var message: String
  var reverts: String?
  var isPushed: Bool
  var refs: [String]
  var changes: [Change]
  /// How many rows the page leaves out.
  var more: Int?
  var isGone: Bool?
  var conflicts: [Conflict]

  init(
    _ changeset: Changeset,
    changes: [RowChange]?,
    most: Int,
    refs: [String],
    conflicts: [ChangesetConflict]
  ) {
    id = changeset.id.description
    parents = changeset.parents.map(\.description)
    kind = changeset.kind.rawValue
    branch = ReportedText.cut(changeset.branch)
    time = HistoryWords.time(changeset)
    replica = changeset.replica.map { ReportedText.cut($0) }
    message = ReportedText.cut(HistoryWords.message(changeset))
    reverts = changeset.reverts?.description
    isPushed = changeset.isPushed
    self.refs = refs
    self.changes = (changes ?? []).prefix(most).map { Self.change($0) }
    let count = changes?.count ?? 0
    more = count > most ? count - most : nil
    isGone = changes == nil ? true : nil
    self.conflicts = conflicts.map { Self.conflict($0) }
  }

  private static func change(_ change: RowChange) -> Change {
    Change(
      table: change.table,
      key: ReportedText.key(change.key),
      kind: change.kind.rawValue,
      cells: change.cells.map {
        Cell(
          column: $0.column,
          old: ReportedText.value($0.old),
          new: ReportedText.value($0.new)
        )
      }
    )
  }

  private static func conflict(_ conflict: ChangesetConflict) -> Conflict {
    let text = { (cells: [ChangesetConflict.Cell], column: String) -> String in
      cells.first { $0.column == column }.map { ReportedText.value($0.value) } ?? ""
    }
    return Conflict(
      table: conflict.table,
      key: ReportedText.key(conflict.key),
      kind: conflict.kind.rawValue,
      isSetAside: conflict.isSetAside,
      cells: conflict.columns.map {
        Lost(column: $0, kept: text(conflict.kept, $0), lost: text(conflict.lost, $0))
      }
    )
  }
}

/// Texts of the page, of which long ones are cut.
private enum ReportedText {
  private static let longest = 2_000

  static func cut(_ text: String) -> String {
    if text.unicodeScalars.count <= longest { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(longest)))
      + "… (\(text.utf8.count) bytes)"
  }

  /// As SQL writes it, so that a text is told from a number.
  static func value(_ value: FieldValue) -> String { cut(value.sqlText) }

  static func key(_ key: [FieldValue]) -> String {
    key.map { value($0) }.joined(separator: ", ")
  }
}

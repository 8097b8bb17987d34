import CloudSyncSQLite
import CloudSyncSQLiteSchema

/// The tables that a copy has synced so far and that a run does not name any more.
///
/// Whoever forgets a table would not hear that it is not synced any longer, and would send rows that a forgotten filter has
/// kept here.
struct LeftTables {
  static let option = Command.Option(
    name: "--stop",
    value: "A,B",
    help: "stop syncing these tables; their rows stay, here and in the cloud",
    isRepeatable: true
  )

  /// Those that are in the database.
  private let present: [String]
  /// Those that are not: they were renamed or dropped.
  private let gone: [SyncMetadata.Table]
  /// The tables that are named for the first time.
  private let new: [String]

  /// - Parameters:
  ///   - metadata: What the database knows of former runs.
  ///   - tables: The tables that the run names.
  ///   - names: All tables of the database.
  ///   - stopped: The tables that are to be synced no more.
  init(_ metadata: SyncMetadata?, tables: [String], names: [String], stopped: [String]) {
    let known = metadata?.tables ?? []
    let left = known.filter { !(tables + stopped).contains(where: $0.name.isSameName) }
    present = left.map(\.name).filter { names.contains(where: $0.isSameName) }
    gone = left.filter { !names.contains(where: $0.name.isSameName) }
    new = tables.filter { !known.map(\.name).contains(where: $0.isSameName) }
  }

  /// Refuses a run that would leave tables out, or would send rows that were kept here, without being told to.
  ///
  /// - Parameters:
  ///   - filtered: The tables that the run gives a filter, or says that they have none.
  ///   - path: The database.
  /// - Throws: What to add to the command.
  func check(filtered: [String], in path: String) throws {
    if !present.isEmpty {
      let list = present.joined(separator: ",")
      throw ToolError.usage(
        "\(path) syncs \(list) too: name all its tables, or none to go on as before; to sync them no more add"
          + " --stop \(list)"
      )
    }
    guard let former = gone.first(where: { $0.rowFilter != nil }), let filter = former.rowFilter,
      !new.isEmpty, !new.contains(where: { filtered.contains($0) })
    else { return }
    throw ToolError.usage(
      "\(former.name) is not there any more; it sent only rows with \(filter). If it was renamed, give the new table its"
        + " filter, as in --filter '\(new[0])=\(filter)'; if it was dropped, add --stop \(former.name)"
    )
  }

  /// Refuses a run that would forget how the rows of a table are merged, because it has another name now.
  ///
  /// - Parameters:
  ///   - policies: Those of the run.
  ///   - former: Those that were kept.
  /// - Throws: What to add to the command.
  func check(policies: SyncPolicies, former: SyncPolicies) throws {
    guard !new.isEmpty else { return }
    for table in gone {
      for option in DatabaseArguments.policies
      where option.value != nil && former.has(option.name, for: table.name) {
        if new.contains(where: { policies.has(option.name, for: $0) }) { continue }
        let names = (former.tables[option.name] ?? []).map { $0 == table.name ? new[0] : $0 }
        throw ToolError.usage(
          "\(table.name) is not there any more; it had \(option.name). If it was renamed, give the new table the same, as in"
            + " \(option.name) \(names.joined(separator: ",")); if it was dropped, add --stop \(table.name)"
        )
      }
    }
  }
}

import CloudSyncSQLite

/// The policies of a database's tables: those that the command line names, and those that were named before.
///
/// A run that forgets one would merge rows otherwise than the runs of other copies.
struct SyncPolicies {
  /// The tables of each option; for an option without a value none, where it is given.
  private(set) var tables: [String: [String]] = [:]

  /// Policies that exclude each other.
  private static let ofUniqueKeys = ["--unique-newest", "--unique-merge"]

  /// The policies of a command line, and of what an earlier one has left.
  ///
  /// - Parameters:
  ///   - given: The tables by option, as the command line has them.
  ///   - known: What was kept.
  ///   - all: The tables that are synced.
  init(given: [String: [String]], known: SyncPolicies, of all: [String]) {
    tables = given
    let settled = Self.ofUniqueKeys.flatMap { given[$0] ?? [] }
    for (option, names) in known.tables where given[option] == nil {
      let isUnique = Self.ofUniqueKeys.contains(option)
      tables[option] = names.filter { name in
        all.contains(name) && !(isUnique && settled.contains(name))
      }
    }
  }

  /// Reads what was kept: a line for each option, with its tables between tabs.
  init(_ text: String?) {
    for line in (text ?? "").split(separator: "\n") {
      let parts = line.split(separator: "\t").map { String($0) }
      guard let option = parts.first else { continue }
      tables[option] = Array(parts.dropFirst())
    }
  }

  /// What is kept; nil if there is nothing to keep.
  ///
  /// An option that names no table any more has ended.
  var text: String? {
    let options = DatabaseArguments.policies
    let lines = options.compactMap { option -> String? in
      guard let names = tables[option.name], option.value == nil || !names.isEmpty else {
        return nil
      }
      return ([option.name] + names).joined(separator: "\t")
    }
    return lines.isEmpty ? nil : lines.joined(separator: "\n")
  }

  /// Whether some tables are merged by other policies.
  func differs(from other: SyncPolicies, for tables: [String]) -> Bool {
    DatabaseArguments.policies.contains { option in
      guard option.value != nil else { return has(option.name) != other.has(option.name) }
      return tables.contains { has(option.name, for: $0) != other.has(option.name, for: $0) }
    }
  }

  /// Whether an option holds, for a table where it has some.
  func has(_ option: String, for table: String? = nil) -> Bool {
    guard let names = tables[option] else { return false }
    return table.map { names.contains($0) } ?? true
  }
}

extension SyncPolicies: CustomStringConvertible {
  /// As on a command line.
  var description: String {
    guard let text else { return "none" }
    return text.split(separator: "\n")
      .map { line in
        let parts = line.split(separator: "\t")
        let names = parts.dropFirst().joined(separator: ",")
        return names.isEmpty ? "\(parts[0])" : "\(parts[0]) \(names)"
      }
      .joined(separator: " ")
  }
}

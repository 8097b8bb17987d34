/// What rows are to be in the end whose keys some devices change: of each the key that it was given last, and its newest note.
///
/// Rows that were given one key by devices which did not know of each other become one where they meet under it: of those it
/// tells nothing.
struct KeyScriptModel {
  struct Row: Equatable, CustomStringConvertible {
    var key: String
    var label: String
    var note: String
    var description: String { "\(key) \(label) \(note)" }
  }

  /// What is known of a row.
  private struct Fact {
    var key: String
    var keyTime: Int64
    var note: String
    var noteTime: Int64
    var isDeleted = false
  }

  private var known: [[String: Fact]]
  private var cloud: [String: Fact] = [:]
  /// What each device's table had when it was looked at last.
  private var seen: [[Row]]
  private var united: Set<String> = []
  private var deleted: Set<String> = []
  /// Rows that have begun with another one's key: their notes may be of both.
  private var reused: Set<String> = []

  init(devices: Int) {
    known = Array(repeating: [:], count: devices)
    seen = Array(repeating: [], count: devices)
  }

  /// Notes what a device has done.
  mutating func note(_ rows: [Row], of device: Int, at time: Int64) {
    let former = Dictionary(
      seen[device].map { ($0.label, $0) },
      uniquingKeysWith: { one, _ in one }
    )
    let labels = Set(rows.map(\.label))
    for row in rows {
      guard let old = former[row.label], var fact = known[device][row.label] else {
        known[device][row.label] = Fact(key: row.key, keyTime: time, note: row.note, noteTime: time)
        reused.insert(row.label)
        continue
      }
      if old.key != row.key {
        fact.key = row.key
        fact.keyTime = time
      }
      if old.note != row.note {
        fact.note = row.note
        fact.noteTime = time
      }
      known[device][row.label] = fact
    }
    for label in former.keys where !labels.contains(label) {
      deleted.insert(label)
      known[device][label]?.isDeleted = true
    }
    seen[device] = rows
  }

  /// Has a device and the cloud tell each other what they know.
  mutating func sync(_ device: Int) {
    for label in Set(known[device].keys).union(cloud.keys) {
      guard let one = known[device][label] ?? cloud[label] else { continue }
      let fact = Self.join(one, cloud[label] ?? one)
      known[device][label] = fact
      cloud[label] = fact
    }
    var labels: [String: Set<String>] = [:]
    for (label, fact) in cloud {
      labels[fact.key, default: []].insert(label)
    }
    for group in labels.values where group.count > 1 { united.formUnion(group) }
  }

  private static func join(_ mine: Fact, _ theirs: Fact) -> Fact {
    var joined = mine.keyTime >= theirs.keyTime ? mine : theirs
    let newer = mine.noteTime >= theirs.noteTime ? mine : theirs
    joined.note = newer.note
    joined.noteTime = newer.noteTime
    joined.isDeleted = mine.isDeleted || theirs.isDeleted
    return joined
  }

  /// Notes what a device's table has after it was synchronized.
  mutating func see(_ rows: [Row], of device: Int) { seen[device] = rows }

  /// What is wrong with what all devices have in the end; nil if nothing is.
  func error(in rows: [Row]) -> String? {
    let found = Dictionary(grouping: rows, by: \.label)
    if let twice = found.first(where: { $0.value.count > 1 }) {
      return "\(twice.value) is doubled: \(rows)"
    }
    for (label, fact) in cloud.sorted(by: { $0.key < $1.key })
    where !united.contains(label) && !deleted.contains(label) {
      guard let row = found[label]?.first else {
        if reused.contains(label), !deleted.isEmpty { continue }
        return "\(label) is lost: \(rows)"
      }
      if row.key != fact.key { return "\(row) has not the key \(fact.key)" }
      if row.note != fact.note, !reused.contains(label) {
        return "\(row) has not the note \(fact.note)"
      }
    }
    return nil
  }
}

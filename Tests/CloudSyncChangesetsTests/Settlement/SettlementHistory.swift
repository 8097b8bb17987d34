import CloudSyncSimulator
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncChangesets

/// Replicas that edit tables with every constraint, exchange commits in part, and merge at the same time.
final class SettlementHistory {
  static let schema = """
    CREATE TABLE teams(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE COLLATE NOCASE,
      lead TEXT REFERENCES people(id) ON DELETE SET NULL);
    CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, mail TEXT NOT NULL UNIQUE, low INTEGER NOT NULL,
      high INTEGER NOT NULL, team TEXT REFERENCES teams(id) ON DELETE CASCADE, CHECK(low < high));
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, person TEXT NOT NULL REFERENCES people(id),
      place INTEGER, gone INTEGER, UNIQUE(person, place));
    CREATE TABLE words(note TEXT NOT NULL REFERENCES notes(id) ON DELETE CASCADE, word TEXT NOT NULL,
      mail TEXT DEFAULT 'm1' REFERENCES people(mail) ON UPDATE CASCADE ON DELETE SET DEFAULT,
      PRIMARY KEY(note, word)) WITHOUT ROWID;
    CREATE UNIQUE INDEX part ON notes(place) WHERE gone IS NULL AND place > 2;
    CREATE UNIQUE INDEX expression ON words(lower(word)) WHERE note > 'n2';
    """

  let bench: MergeBench
  private var random: SeededRandom
  private var heads: [[ChangesetID]]
  /// The commit that each replica's tables are at.
  private var current: [ChangesetID?]
  private var known: [Set<ChangesetID>]
  private var clock = 0
  private(set) var mergeCount = 0
  private(set) var conflictCounts: [MergeConflict.Kind: Int] = [:]

  init(seed: UInt64, replicas: Int) throws {
    bench = try MergeBench(Self.schema)
    random = SeededRandom(seed: seed)
    heads = Array(repeating: [], count: replicas)
    current = Array(repeating: nil, count: replicas)
    known = Array(repeating: [], count: replicas)
    let first = try bench.commit(Self.rows, at: 1)
    for place in 0..<replicas { try take(place, first) }
  }

  private static let rows = """
    INSERT INTO teams VALUES('t1', 'Name1', NULL), ('t2', 'Name2', NULL);
    INSERT INTO people VALUES('p1', 'm1', 2, 6, 't1'), ('p2', 'm2', 3, 5, 't2'), ('p3', 'm3', 1, 9, NULL);
    INSERT INTO notes VALUES('n1', 'p1', 1, NULL), ('n2', 'p2', 2, 1);
    INSERT INTO words VALUES('n1', 'w1', 'm2'), ('n2', 'w1', 'm1');
    """

  func run(steps: Int) throws {
    for _ in 0..<steps {
      let place = random.below(current.count)
      switch random.below(10) {
      case 0..<5: try edit(place)
      case 5..<8:
        let other = random.below(current.count)
        if let head = current[other] { try take(place, head) }
      default: try mergeAll(place)
      }
    }
  }

  /// Has all replicas give each other everything and merge it; returns in how many rounds, nil if it does not end.
  func settle() throws -> Int? {
    for round in 0..<4 {
      for place in current.indices { try mergeAll(place) }
      if Set(heads).count == 1, heads[0].count <= 1 { return round }
      let all = heads.flatMap { $0 }
      for place in current.indices {
        for head in all { try take(place, head) }
      }
    }
    return nil
  }

  // MARK: Steps

  private func edit(_ place: Int) throws {
    clock += 1 + random.below(3)
    let last = try current[place].map { try bench.memory.header(of: $0).time.rawValue } ?? 0
    let time = max(Int(last) + 1, clock - random.below(5))
    let statements = (0..<random.within(1...3)).map { _ in statement() }
    let before = bench.memory.commits.count
    let id = try bench.commit(trying: statements, on: current[place], at: time, replica: "\(place)")
    guard let id, bench.memory.commits.count > before else { return }
    known[place].insert(id)
    heads[place].removeAll { $0 == current[place] }
    heads[place].append(id)
    current[place] = id
  }

  private func pick(_ letter: String, _ count: Int) -> String {
    "'\(letter)\(1 + random.below(count))'"
  }

  private func statement() -> String {
    let (p, t, n) = (pick("p", 4), pick("t", 3), pick("n", 4))
    let number = random.below(8)
    switch random.below(16) {
    case 0: return "INSERT INTO teams VALUES(\(t), \(pick("Name", 3)), NULL)"
    case 1: return "UPDATE teams SET name = \(pick("name", 3)) WHERE id = \(t)"
    case 2: return "UPDATE teams SET lead = \(p) WHERE id = \(t)"
    case 3: return "DELETE FROM teams WHERE id = \(t)"
    case 4:
      return "INSERT INTO people VALUES(\(p), \(pick("m", 4)), \(number), \(number + 3), \(t))"
    case 5, 13, 14, 15:
      return
        "UPDATE people SET \(random.chance(1, in: 2) ? "low" : "high") = \(number) WHERE id = \(p)"
    case 6: return "UPDATE people SET mail = \(pick("m", 4)) WHERE id = \(p)"
    case 7: return "DELETE FROM people WHERE id = \(p)"
    case 8: return "INSERT INTO notes VALUES(\(n), \(p), \(number), NULL)"
    case 9: return "UPDATE notes SET place = \(number), person = \(p) WHERE id = \(n)"
    case 10: return "DELETE FROM notes WHERE id = \(n)"
    case 11: return "INSERT INTO words VALUES(\(n), \(pick("w", 3)), \(pick("m", 4)))"
    default: return "UPDATE words SET mail = \(pick("m", 4)) WHERE note = \(n)"
    }
  }

  private func take(_ place: Int, _ id: ChangesetID) throws {
    var stack = [id]
    while let one = stack.popLast() {
      guard known[place].insert(one).inserted else { continue }
      stack += try bench.memory.header(of: one).parents
    }
    try findHeads(place)
  }

  private func findHeads(_ place: Int) throws {
    var inner: Set<ChangesetID> = []
    for id in known[place] { inner.formUnion(try bench.memory.header(of: id).parents) }
    heads[place] = known[place].subtracting(inner).sorted()
    if heads[place].count == 1 { current[place] = heads[place][0] }
  }

  private func mergeAll(_ place: Int) throws {
    var queue = MergeQueue()
    for head in heads[place] {
      queue.add(head, generation: try bench.memory.header(of: head).generation)
    }
    while let (one, other) = queue.next() {
      let id = try bench.merge(one, other)
      mergeCount += 1
      for conflict in bench.conflicts { conflictCounts[conflict.kind, default: 0] += 1 }
      known[place].insert(id)
      queue.add(id, generation: try bench.memory.header(of: id).generation)
    }
    try findHeads(place)
  }
}

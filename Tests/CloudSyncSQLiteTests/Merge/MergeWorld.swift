import CloudSyncCore
import CloudSyncSQLite
import Testing

/// What a person does to the row on one device.
enum MergeEdit: Sendable {
  case set(String, FieldValue)
  /// Adds to a whole number.
  case add(String, Int64)
  case insert([String: FieldValue])
  case delete
}

/// A cloud of one record, which takes what is made from its present version.
struct MergeServer {
  private(set) var record: Record?
  private var tags = 0

  var row: RowVersion { record.flatMap { RowVersion(record: $0) } ?? .missing }

  /// Whether a save was taken.
  mutating func save(_ edit: Record) -> Bool {
    guard edit.changeTag == record?.changeTag else { return false }
    tags += 1
    record = (record?.applying(edit) ?? edit).withChangeTag("\(tags)")
    return true
  }

  mutating func delete() { record = nil }
}

/// A device with a copy of the row, and the record as it last heard of it.
struct MergeDevice {
  static let recordID = RecordID(name: "k:t", zoneID: ZoneID(name: "z"))

  /// The columns that its version of the app has.
  let columns: [String]
  let policy: TableMergePolicy
  /// Whether deletions remove the record, instead of marking it.
  let removes: Bool
  private let layout: RecordLayout
  private(set) var row = RowVersion.missing
  private var known: Record?
  private(set) var isDirty = false
  /// How far its clock is off, in milliseconds.
  var skew: Int64 = 0
  private var last = HybridTime.zero

  init?(columns: [String], policy: TableMergePolicy, removes: Bool) {
    let declared = columns.map { (name: $0, declaredType: "TEXT") }
    guard let layout = RecordLayout(table: "t", columns: declared) else { return nil }
    self.columns = columns
    self.policy = policy
    self.removes = removes
    self.layout = layout
  }

  private var ancestor: RowVersion? { known.flatMap { RowVersion(record: $0) } }

  // MARK: Edits

  mutating func make(_ edit: MergeEdit, at milliseconds: Int64) {
    let time = HybridTime.next(after: last, now: milliseconds + skew)
    last = time
    switch edit {
    case .set(let name, let value):
      guard !row.isDeleted, columns.contains(name) else { return }
      row[name] = VersionedColumn(name: name, value: value, time: time)
    case .add(let name, let amount):
      guard !row.isDeleted else { return }
      let sum = (row[name]?.value.int64Value ?? 0) + amount
      row[name] = VersionedColumn(name: name, value: .int64(sum), time: time)
    case .insert(let values):
      guard row.isDeleted else { return }
      let deletedAt = row.isMissing ? ancestor?.deletedAt : row.deletedAt
      row = RowVersion(
        columns: columns.map {
          VersionedColumn(name: $0, value: values[$0] ?? .null, time: time)
        },
        createdAt: time,
        deletedAt: deletedAt
      )
    case .delete:
      guard !row.isDeleted else { return }
      row = RowVersion(columns: [], deletedAt: time)
    }
    isDirty = true
  }

  // MARK: Synchronization

  mutating func fetch(_ server: MergeServer) {
    guard server.record?.changeTag != known?.changeTag else { return }
    let result = RowMerge.merge(ancestor: ancestor, local: row, server: server.row, policy: policy)
    known = server.record
    adopt(result)
  }

  /// Sends what is new, and merges first where the cloud refuses it.
  mutating func send(_ server: inout MergeServer) {
    guard isDirty else { return }
    let result = RowMerge.merge(
      ancestor: ancestor,
      local: row,
      server: ancestor ?? .missing,
      policy: policy
    )
    if result.cloud == .delete, removes {
      server.delete()
    } else if result.cloud != .none {
      let edit = layout.edit(
        columns: result.changesForCloud,
        endedColumns: result.endedColumns,
        createdAt: result.merged.createdAt,
        deletedAt: result.merged.deletedAt,
        of: known,
        recordID: Self.recordID
      )
      guard server.save(edit) else {
        return fetch(server)
      }
    }
    if result.cloud != .none { known = server.record }
    adopt(result)
    isDirty = false
  }

  private mutating func adopt(_ result: RowMerge.Result) {
    isDirty = result.cloud != .none
    last = max(last, result.merged.time)
    switch result.local {
    case .none, .delete:
      row = isDirty ? RowVersion(columns: [], deletedAt: result.merged.deletedAt) : .missing
    case .insert, .update, .replace:
      let kept = result.merged.columns.filter { columns.contains($0.name) }
      row = RowVersion(
        columns: kept,
        createdAt: result.merged.createdAt,
        deletedAt: result.merged.deletedAt
      )
    }
  }

  /// Whether it has the row as the cloud has it, in so far as it knows its columns.
  func agrees(with server: RowVersion) -> Bool {
    if isDirty || row.isDeleted != server.isDeleted { return false }
    if row.isDeleted { return true }
    return row.columns == server.columns.filter { columns.contains($0.name) }
  }
}

/// Devices and their cloud.
struct MergeWorld {
  var server = MergeServer()
  var devices: [MergeDevice]
  private var clock: Int64 = 0

  init(
    columns: [[String]],
    policy: TableMergePolicy = TableMergePolicy(),
    removes: Bool = true
  ) {
    devices = columns.compactMap {
      MergeDevice(columns: $0, policy: policy, removes: removes)
    }
  }

  /// Sets the clocks of some devices wrong.
  mutating func skew(_ random: inout SplitMix64) {
    for device in devices.indices where random.below(2) == 0 {
      devices[device].skew = Int64(random.below(60)) - 30
    }
  }

  /// Makes an edit, a millisecond after the one before.
  mutating func make(_ edit: MergeEdit, on device: Int) {
    clock += 1
    devices[device].make(edit, at: clock)
  }

  mutating func send(_ device: Int) { devices[device].send(&server) }
  mutating func fetch(_ device: Int) { devices[device].fetch(server) }

  mutating func syncRandomly(_ random: inout SplitMix64, steps: Int) {
    for _ in 0..<steps {
      let device = Int(random.below(UInt64(devices.count)))
      if random.below(2) == 0 { send(device) } else { fetch(device) }
    }
  }

  mutating func expectToSettle(
    _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let isSettled = settle()
    #expect(isSettled, comment, sourceLocation: sourceLocation)
  }

  /// Lets all devices send and fetch until nothing moves any more; false if that never ends.
  mutating func settle() -> Bool {
    for _ in 0..<(4 * devices.count + 4) {
      for device in devices.indices {
        send(device)
        fetch(device)
      }
      if devices.allSatisfy({ $0.agrees(with: server.row) }) { return true }
    }
    return false
  }
}

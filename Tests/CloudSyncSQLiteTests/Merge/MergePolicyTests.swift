import CloudSyncCore
import Foundation
import Testing

@testable import CloudSyncSQLite

@Suite("MergePolicy")
struct MergePolicyTests {
  private func version(_ value: FieldValue, at number: Int64) -> RecordVersion {
    var clock = RecordClock()
    clock.created = HybridTime(rawValue: 1)
    let time = HybridTime(rawValue: number)
    return RecordVersion(
      clock: clock,
      columns: [VersionedColumn(name: "c", value: value, time: time)]
    )
  }

  /// A database's row that was made from what the cloud had, if there was anything, and changed once.
  private func row(
    from ancestor: FieldValue?,
    to value: FieldValue,
    at number: Int64,
    _ rules: RowRules
  ) -> RecordState {
    var state = RecordState()
    let time = HybridTime(rawValue: number)
    guard let ancestor else {
      let columns = [ColumnEdit(name: "c", value: value, former: nil)]
      _ = state.reduce(.edited(.inserted(columns, at: time)), rules: rules)
      return state
    }
    _ = state.reduce(.has(tag: "1", version(ancestor, at: 2)), rules: rules)
    if ancestor == value { return state }
    let columns = [ColumnEdit(name: "c", value: value, former: ancestor)]
    _ = state.reduce(.edited(.updated(columns, at: time)), rules: rules)
    return state
  }

  /// The merged value of a column that was changed here first and there later.
  private func merge(
    _ ancestor: FieldValue?,
    _ local: FieldValue,
    _ server: FieldValue,
    _ policy: MergePolicy
  ) -> FieldValue? {
    let table = TableMergePolicy(columns: ["c": policy])
    var mine = row(from: ancestor, to: local, at: 4, RowRules(writer: 1, policy: table))
    let theirs = row(from: ancestor, to: server, at: 6, RowRules(writer: 2, policy: table))
    guard let version = theirs.row else { return nil }
    _ = mine.reduce(.has(tag: "2", version), rules: RowRules(writer: 1, policy: table))
    return mine.row?.value(of: "c")
  }

  @Test("Simple policies choose a side")
  func sides() {
    #expect(merge(0, 1, 2, .newest) == 2)
    #expect(merge(0, 1, 2, .client) == 1)
    #expect(merge(0, 1, 2, .server) == 2)
    #expect(merge(0, 1, 2, .custom { _ in 7 }) == 7)
    #expect(merge(0, 1, 2, .custom { $0.ancestor ?? .null }) == 0)
    #expect(merge(0, 1, 2, .custom { _ in .timestamp(Timestamp(nanoseconds: 1)) }) == 2)
  }

  @Test("What one side alone has changed is taken, whatever the policy")
  func oneSide() {
    for policy in [MergePolicy.newest, .client, .server, .maximum, .counter, .setUnion] {
      #expect(merge(5, 5, 3, policy) == 3)
      let rules = RowRules(writer: 1, policy: TableMergePolicy(columns: ["c": policy]))
      let state = row(from: 5, to: 3, at: 2, rules)
      #expect(state.row?.value(of: "c") == 3 && state.isDirty)
    }
  }

  @Test("The maximum follows SQLite's order, exactly also for large numbers")
  func maximum() {
    let limit = Int64(1) << 53
    #expect(merge(0, 9, 8, .maximum) == 9)
    #expect(merge(0, .null, -8, .maximum) == -8)
    #expect(merge(0, "9", 10, .maximum) == "9")
    #expect(merge(0, .int64(limit + 1), .double(0x1p53), .maximum) == .int64(limit + 1))
    #expect(merge(0, .int64(.max), .double(0x1p63), .maximum) == .double(0x1p63))
    #expect(merge(0, .double(-.infinity), .int64(.min), .maximum) == .int64(.min))
    #expect(merge(0, 1.5, 1, .maximum) == 1.5)
    #expect(merge(0, .data(Data([1])), "z", .maximum) == .data(Data([1])))
  }

  @Test("A counter adds what was added here, within its range")
  func counter() {
    #expect(merge(10, 12, 15, .counter) == 17)
    #expect(merge(10, 12, 12, .counter) == 14)
    #expect(merge(10, 7, 9, .counter) == 6)
    #expect(merge(nil, 3, 4, .counter) == 7)
    #expect(merge(.null, 3, .null, .counter) == 3)
    #expect(merge(0, .int64(.max), 1, .counter) == .int64(.max))
    #expect(merge(0, .int64(.min), -1, .counter) == .int64(.min))
    #expect(merge(1.5, 2, 3.5, .counter) == 4.0)
  }

  @Test("A set unites additions and honours removals")
  func setUnion() {
    let merged = merge("[1,2]", "[2,\"b\"]", "[1,2,\"a\"]", .setUnion)
    #expect(merged == "[2,\"a\",\"b\"]")
    #expect(
      merge(.null, "[\"b\"]", " [ \"a\" , true, null ] ", .setUnion) == "[null,true,\"a\",\"b\"]"
    )
    #expect(merge("[1]", .null, "[1,2]", .setUnion) == "[2]")
    #expect(merge(nil, "[\"\\u00e9\"]", "[\"é\"]", .setUnion) == "[\"é\"]")
    #expect(merge("[]", "[\"\\ud83d\\ude00\\n\"]", "[0]", .setUnion) == "[0,\"😀\\n\"]")
    for odd in ["{}", "[[1]]", "[1", "[01]", "[1,]", "[\"\\ud800\"]", "x", "[\"a]", "[nul]"] {
      #expect(merge("[]", .string(odd), "[1]", .setUnion) == "[1]", "\(odd)")
      #expect(merge("[]", "[1]", .string(odd), .setUnion) == .string(odd), "\(odd)")
    }
  }

  @Test("A BLOB in a file is the BLOB in the field, wherever the file lies")
  func assets() {
    let bytes: [UInt8] = [1, 2, 3]
    let asset = { (place: String) in
      FieldValue.asset(
        Asset(sha256: Data(SHA256.digest(of: bytes)), byteCount: 3, location: place)
      )
    }
    let values = [asset("here"), asset("there"), .data(Data(bytes))]
    for local in values {
      for server in values {
        let rules = RowRules(writer: 1, policy: TableMergePolicy())
        var state = row(from: local, to: local, at: 1, rules)
        _ = state.reduce(.has(tag: "2", version(server, at: 2)), rules: rules)
        #expect(!state.isDirty)
      }
    }
  }

  @Test("Of two values of one time all devices choose the same")
  func ties() {
    let rules = RowRules(writer: 1, policy: TableMergePolicy())
    let values: [FieldValue] = [.null, 1, 2.5, "a", "b", .data(Data([1])), .list([.data(Data())])]
    for one in values {
      for other in values where one != other {
        var here = row(from: 0, to: one, at: 2, rules)
        var there = row(from: 0, to: other, at: 2, rules)
        let (mine, theirs) = (here.row, there.row)
        if let theirs { _ = here.reduce(.has(tag: "2", theirs), rules: rules) }
        if let mine { _ = there.reduce(.has(tag: "3", mine), rules: rules) }
        #expect(here.row?.value(of: "c") == there.row?.value(of: "c"))
        #expect(here.isDirty != there.isDirty)
      }
    }
  }
}

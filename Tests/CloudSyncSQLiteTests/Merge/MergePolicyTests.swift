import CloudSyncCore
import CloudSyncSQLite
import Foundation
import Testing

@Suite("MergePolicy")
struct MergePolicyTests {
  /// The merged value of a column that was changed here first and there later.
  private func merge(
    _ ancestor: FieldValue?,
    _ local: FieldValue,
    _ server: FieldValue,
    _ policy: MergePolicy
  ) -> FieldValue? {
    let version = { (value: FieldValue, time: Int64) in
      RowVersion(
        columns: [VersionedColumn(name: "c", value: value, time: HybridTime(rawValue: time))]
      )
    }
    let result = RowMerge.merge(
      ancestor: ancestor.map { version($0, 1) },
      local: version(local, 2),
      server: version(server, 3),
      policy: TableMergePolicy(columns: ["c": policy])
    )
    return result.merged["c"]?.value
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
    let keep = VersionedColumn(name: "c", value: 5, time: HybridTime(rawValue: 1))
    let change = VersionedColumn(name: "c", value: 3, time: HybridTime(rawValue: 2))
    for policy in [MergePolicy.newest, .client, .server, .maximum, .counter, .setUnion] {
      let table = TableMergePolicy(defaultPolicy: policy)
      let old = RowVersion(columns: [keep])
      let new = RowVersion(columns: [change])
      let sent = RowMerge.merge(ancestor: old, local: new, server: old, policy: table)
      let received = RowMerge.merge(ancestor: old, local: old, server: new, policy: table)
      #expect(sent.merged == new && sent.changesForCloud == [change])
      #expect(sent.changesForRow.isEmpty)
      #expect(received.merged == new && received.changesForRow == [change])
      #expect(received.isClean)
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
    #expect(merge(.int64(.min), .int64(.max), .int64(.min), .counter) == .int64(.max))
    #expect(merge(.int64(.min), 0, -5, .counter) == .int64(.max - 4))
    #expect(merge(.int64(.max), .int64(.min), .int64(.max), .counter) == .int64(.min))
    #expect(merge(1.5, 2, 3.5, .counter) == 4.0)
    #expect(merge(1, "many", 3, .counter) == 3)
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
    let table = TableMergePolicy()
    let values = [asset("here"), asset("there"), .data(Data(bytes))]
    for local in values {
      for server in values {
        let version = { (value: FieldValue) in
          RowVersion(
            columns: [VersionedColumn(name: "c", value: value, time: HybridTime(rawValue: 1))]
          )
        }
        let result = RowMerge.merge(
          ancestor: nil,
          local: version(local),
          server: version(server),
          policy: table
        )
        #expect(result.isClean && result.changesForRow.isEmpty)
        #expect(result.merged["c"]?.value == server)
      }
    }
  }

  @Test("Of two values of one time all devices choose the same")
  func ties() {
    let column = { (value: FieldValue) in
      RowVersion(
        columns: [VersionedColumn(name: "c", value: value, time: HybridTime(rawValue: 2))]
      )
    }
    let values: [FieldValue] = [.null, 1, 2.5, "a", "b", .data(Data([1])), .list([.data(Data())])]
    for one in values {
      for other in values {
        let here = RowMerge.merge(ancestor: nil, local: column(one), server: column(other))
        let there = RowMerge.merge(ancestor: nil, local: column(other), server: column(one))
        #expect(here.merged == there.merged)
        #expect(one == other || here.isClean != there.isClean)
      }
    }
  }
}

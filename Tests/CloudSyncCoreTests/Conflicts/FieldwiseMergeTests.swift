import Foundation
import CloudSyncTestSupport
import Testing

@testable import CloudSyncCore

@Suite("ConflictResolver.fieldwise")
struct FieldwiseMergeTests {
  /// Merges one field `f`; nil means that the field is absent.
  private func merge(
    _ client: FieldValue,
    _ server: FieldValue?,
    _ ancestor: FieldValue?,
    hasAncestor: Bool = true,
    policy: FieldPolicy
  ) throws -> FieldValue? {
    let resolver = ConflictResolver.fieldwise(["f": policy, "e": .client, "g": .client])
    var conflict = Conflict(
      client: RecordFixtures.record(["f": client], tag: "old", modified: 1),
      server: RecordFixtures.record(["other": 1], tag: "new", modified: 2)
    )
    conflict.server["f"] = server
    if hasAncestor {
      conflict.ancestor = RecordFixtures.record(["other": 0], tag: "old")
      conflict.ancestor?["f"] = ancestor
    }
    guard case .save(let record) = resolver.resolve(conflict) else { return nil }
    #expect(record.changeTag == "new")
    #expect(record.fields.allSatisfy { $0.name == "f" })
    return record["f"]
  }

  private let never = FieldPolicy.custom { _, _, _ in "the policy was asked" }

  @Test("A field that only the client changed takes the client's value, removals included")
  func onlyClientChanged() throws {
    #expect(try merge(2, 1, 1, policy: never) == 2)
    #expect(try merge(.null, 1, 1, policy: never) == .null)
    #expect(try merge(2, nil, nil, policy: never) == 2)
    #expect(try merge(2, .null, nil, policy: never) == 2)
  }

  @Test("A field that only the server changed, or both alike, is not sent")
  func onlyServerChanged() throws {
    #expect(try merge(1, 2, 1, policy: never) == nil)
    #expect(try merge(1, nil, 1, policy: never) == nil)
    #expect(try merge(.null, 2, nil, policy: never) == nil)
    #expect(try merge(2, 2, 1, policy: .client) == nil)
    #expect(try merge(.null, nil, 1, policy: never) == nil)
  }

  @Test("A policy that counts is asked about equal edits too")
  func equalEdits() throws {
    #expect(try merge(2, 2, 1, policy: .counterSum) == 3)
    #expect(try merge(2, 2, nil, hasAncestor: false, policy: .counterSum) == 4)
    #expect(try merge(2, 2, 1, policy: never) == "the policy was asked")
    for policy in [FieldPolicy.newest, .client, .server, .maximum, .setUnion] {
      #expect(try merge(2, 2, 1, policy: policy) == nil)
    }
  }

  @Test("What both changed is given to the policy, and so is all that differs without an ancestor")
  func bothChanged() throws {
    #expect(try merge(2, 3, 1, policy: never) == "the policy was asked")
    #expect(try merge(.null, 3, 1, policy: never) == "the policy was asked")
    #expect(try merge(2, nil, 1, policy: never) == "the policy was asked")
    #expect(try merge(2, 1, nil, hasAncestor: false, policy: never) == "the policy was asked")
    #expect(try merge(2, 2, nil, hasAncestor: false, policy: .client) == nil)
  }

  @Test("A policy whose result is the server's value sends nothing")
  func serverValueIsNotSent() throws {
    #expect(try merge(2, 3, 1, policy: .server) == nil)
    #expect(try merge(2, 3, 1, policy: .maximum) == nil)
    #expect(try merge(2, nil, 1, policy: .server) == nil)
    #expect(try merge(2, 3, 1, policy: .client) == 2)
    #expect(try merge(2, 3, 1, policy: .custom { _, server, _ in server ?? .null }) == nil)
  }

  @Test("Fields without a policy of their own take the default")
  func defaultPolicy() throws {
    let conflict = Conflict(
      client: RecordFixtures.record(["a": 1, "b": 5, "c": 3]),
      server: RecordFixtures.record(["a": 2, "b": 4, "c": 6])
    )
    let resolver = ConflictResolver.fieldwise(["b": .client], default: .maximum)

    guard case .save(let record) = resolver.resolve(conflict) else {
      Issue.record("nothing is saved")
      return
    }

    #expect(record.fields == [RecordField(name: "b", value: 5)])
  }

  @Test(
    "Two devices that merge field by field hold the same record, whoever comes first",
    arguments: UInt64(0)..<200
  )
  func mergesCommute(seed: UInt64) throws {
    var random = RecordFixtures.Random(seed: seed)
    let names = ["count", "high", "tags", "x_client_only", "y_server_only"]
    let policies: [String: FieldPolicy] = ["count": .counterSum, "high": .maximum]
    let ancestor = RecordFixtures.record(
      ["count": 10, "high": 5, "tags": "a", "x_client_only": 1, "y_server_only": 1]
    )
    var edits: [Record] = []
    for device in 0..<2 {
      var edit = RecordFixtures.record()
      for name in names.prefix(2) where random.below(3) > 0 {
        edit[name] = .int64(Int64(random.below(20)))
      }
      edit[names[3 + device]] = .int64(Int64(random.below(20)))
      edits.append(edit)
    }
    let resolver = ConflictResolver.fieldwise(policies)

    let results = try [(0, 1), (1, 0)]
      .map { first, second in
        let server = ancestor.applying(edits[first])
        let conflict = Conflict(client: edits[second], server: server, ancestor: ancestor)
        guard case .save(let record) = resolver.resolve(conflict) else {
          throw CodedError(place: "seed \(seed)", reason: "nothing is saved")
        }
        return server.applying(record)
      }

    #expect(results[0].fields == results[1].fields)
  }
}

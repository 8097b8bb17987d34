import Foundation
import Testing

@testable import CloudSyncCore

@Suite("FieldPolicy")
struct FieldPolicyTests {
  private func merge(
    _ policy: FieldPolicy,
    _ client: FieldValue,
    _ server: FieldValue?,
    _ ancestor: FieldValue? = nil,
    clientIsNewer: Bool = false
  ) -> FieldValue {
    policy.merge(client: client, server: server, ancestor: ancestor, clientIsNewer: clientIsNewer)
  }

  @Test("Newest, client and server take the side that they say")
  func sides() {
    #expect(merge(.newest, 1, 2, clientIsNewer: true) == 1)
    #expect(merge(.newest, 1, 2, clientIsNewer: false) == 2)
    #expect(merge(.newest, 1, nil, clientIsNewer: false) == .null)
    #expect(merge(.client, 1, 2) == 1)
    #expect(merge(.client, .null, 2) == .null)
    #expect(merge(.server, 1, 2, clientIsNewer: true) == 2)
    #expect(merge(.server, 1, nil, clientIsNewer: true) == .null)
  }

  @Test("Maximum takes the larger number, the later time, and any value before none")
  func maximum() {
    #expect(merge(.maximum, 1, 2) == 2)
    #expect(merge(.maximum, .int64(.max), .int64(.min)) == .int64(.max))
    #expect(merge(.maximum, 1.5, -2.5) == 1.5)
    #expect(merge(.maximum, .double(.nan), 1.0) == 1.0)
    #expect(merge(.maximum, 1.0, .double(.nan)) == 1.0)
    #expect(merge(.maximum, .double(.infinity), 1.0) == .double(.infinity))
    let (early, late) = (Timestamp(nanoseconds: -5), Timestamp(nanoseconds: 5))
    #expect(merge(.maximum, .timestamp(early), .timestamp(late)) == .timestamp(late))
    #expect(merge(.maximum, .null, 2, clientIsNewer: true) == 2)
    #expect(merge(.maximum, 2, nil) == 2)
  }

  @Test("Maximum, sum and union of values that do not fit are the newest")
  func misfits() {
    for policy in [FieldPolicy.maximum, .counterSum, .setUnion] {
      #expect(merge(policy, "a", "b", clientIsNewer: true) == "a")
      #expect(merge(policy, "a", "b", clientIsNewer: false) == "b")
      #expect(merge(policy, 1, 2.0, clientIsNewer: true) == 1)
      #expect(merge(policy, 1, 2.0, clientIsNewer: false) == 2.0)
    }
    #expect(merge(.setUnion, [1], 2) == 2)
    #expect(merge(.setUnion, .null, [1], clientIsNewer: true) == .null)
    #expect(merge(.counterSum, .null, 1, clientIsNewer: true) == .null)
  }

  @Test("A counter is the server's number plus what the client added")
  func counterSum() {
    #expect(merge(.counterSum, 12, 15, 10) == 17)
    #expect(merge(.counterSum, 7, 15, 10) == 12)
    #expect(merge(.counterSum, 3, 4, nil) == 7)
    #expect(merge(.counterSum, 3, nil, 1) == 2)
    #expect(merge(.counterSum, 3, 4, "not a number") == 7)
    #expect(merge(.counterSum, 1.5, 2.5, 1.0) == 3.0)
    #expect(merge(.counterSum, 1.5, nil, 1.0) == 0.5)
  }

  @Test("A counter stops at the ends of Int64, and only if the exact result is beyond them")
  func counterSaturates() {
    func sum(_ client: Int64, _ server: Int64, _ ancestor: Int64) -> FieldValue {
      merge(.counterSum, .int64(client), .int64(server), .int64(ancestor))
    }
    let samples: [Int64] = [.min, .min + 1, -5, -1, 0, 1, 5, .max - 1, .max]

    for client in samples {
      for server in samples {
        for ancestor in samples {
          // 2^63 is exact as a double, so a decimal of two words decides without overflow.
          let exact = Decimal(server) + Decimal(client) - Decimal(ancestor)
          let clamped = min(max(exact, Decimal(Int64.min)), Decimal(Int64.max))
          let expected = Int64(NSDecimalNumber(decimal: clamped).stringValue)
          #expect(sum(client, server, ancestor).int64Value == expected)
        }
      }
    }
  }

  @Test("A union keeps the server's order, adds the client's additions, drops its removals")
  func setUnion() {
    #expect(merge(.setUnion, ["a", "x", "y"], ["b", "a"], ["a"]) == ["b", "a", "x", "y"])
    #expect(merge(.setUnion, ["b"], ["c", "a", "b"], ["a", "b"]) == ["c", "b"])
    #expect(merge(.setUnion, ["a", "b", "x"], ["b"], ["a", "b"]) == ["b", "x"])
    #expect(merge(.setUnion, ["x", "x"], ["a"], nil) == ["a", "x"])
    #expect(merge(.setUnion, ["a", "b"], ["b", "c"], nil) == ["b", "c", "a"])
    #expect(merge(.setUnion, ["a", "x"], nil, ["a"]) == ["x"])
    #expect(merge(.setUnion, [], ["a", "b"], ["a"]) == ["b"])
    #expect(merge(.setUnion, ["é"], ["e\u{301}"], nil) == ["e\u{301}", "é"])
  }

  @Test("A custom policy gets all three values")
  func custom() {
    let policy = FieldPolicy.custom { client, server, ancestor in
      .list([client, server ?? .null, ancestor ?? .null])
    }

    #expect(merge(policy, 1, 2, 3) == [1, 2, 3])
    #expect(merge(policy, 1, nil, nil) == [1, .null, .null])
  }
}

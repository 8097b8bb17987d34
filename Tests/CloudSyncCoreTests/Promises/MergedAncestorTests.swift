import CloudSyncCore
import CloudSyncTestSupport
import Testing

/// Two edits of one record that travel as one, each made of another version of it.
@Suite("Edits that are merged, each with the record that it was made of")
struct MergedAncestorTests {
  private static func record(_ a: Int64, _ b: Int64, tag: String?) -> Record {
    SessionHarness.record("r", ["a": .int64(a), "b": .int64(b)], tag: tag)
  }

  /// Submits two edits before anything is sent, whole records with what each was made of, and sends them after another
  /// device has saved the record once more.
  private func merged(
    _ edits: [(from: (Int64, Int64), to: (Int64, Int64))],
    besides other: (Int64, Int64),
    resolver: ConflictResolver
  ) throws -> Record? {
    try merged(
      edits.map {
        (
          from: Self.record($0.from.0, $0.from.1, tag: nil),
          to: Self.record($0.to.0, $0.to.1, tag: nil)
        )
      },
      besides: other,
      resolver: resolver
    )
  }

  /// The same with whole records or parts of them, some of which have no ancestor.
  private func merged(
    _ edits: [(from: Record?, to: Record)],
    besides other: (Int64, Int64) = (1, 20),
    resolver: ConflictResolver
  ) throws -> Record? {
    let bench = CloudHarness(resolver: resolver)
    bench.cloud.save(Self.record(1, 5, tag: nil))
    let tag = try #require(bench.cloud["r"]?.changeTag)
    for edit in edits {
      try bench.session.modify(
        ModifyOperation(
          records: [edit.to.withChangeTag(tag)],
          ancestors: [edit.from?.withChangeTag(tag)].compactMap(\.self)
        )
      )
    }
    bench.cloud.save(Self.record(other.0, other.1, tag: tag))
    bench.start()
    bench.world.runToEnd()
    #expect(bench.wrongs == [])
    return bench.cloud["r"]
  }

  @Test("A field counts as edited that an earlier edit of another one was made with, unsent")
  func unsentInAncestor() throws {
    let saved = try merged(
      [(from: (2, 5), to: (2, 6)), (from: (1, 6), to: (2, 6))],
      besides: (1, 7),
      resolver: .fieldwise(default: .client)
    )
    #expect(saved?["a"] == 2 && saved?["b"] == 6)
  }

  @Test("What came between two edits is not added by the later one")
  func amountOfLaterVersion() throws {
    let saved = try merged(
      [(from: (1, 5), to: (1, 6)), (from: (9, 6), to: (10, 6))],
      besides: (20, 5),
      resolver: .fieldwise(["a": .counterSum], default: .client)
    )
    #expect(saved?["a"] == 21 && saved?["b"] == 6)
  }

  @Test(
    "What a later edit without an ancestor sets is edited, also if the earlier one's ancestor had it, unsent"
  )
  func laterWithoutAncestor() throws {
    let saved = try merged(
      [
        (from: Self.record(2, 5, tag: nil), to: Self.record(2, 6, tag: nil)),
        (from: nil, to: SessionHarness.record("r", ["a": .int64(2)])),
      ],
      resolver: .fieldwise(["b": .counterSum], default: .client)
    )
    #expect(saved?["a"] == 2 && saved?["b"] == 21)
  }

  @Test("What a later edit adds is measured from its ancestor, also if the earlier edit has none")
  func earlierWithoutAncestor() throws {
    let saved = try merged(
      [
        (from: nil, to: SessionHarness.record("r", ["a": .int64(2)])),
        (from: Self.record(2, 5, tag: nil), to: Self.record(2, 6, tag: nil)),
      ],
      resolver: .fieldwise(["b": .counterSum], default: .client)
    )
    #expect(saved?["a"] == 2 && saved?["b"] == 21)
  }

  @Test("What both edits change is measured from the first one's version")
  func amountOfBoth() throws {
    let saved = try merged(
      [(from: (1, 5), to: (3, 5)), (from: (3, 5), to: (4, 6))],
      besides: (20, 5),
      resolver: .fieldwise(["a": .counterSum], default: .client)
    )
    #expect(saved?["a"] == 23 && saved?["b"] == 6)
  }
}

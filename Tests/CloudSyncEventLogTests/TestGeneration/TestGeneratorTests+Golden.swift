/// What the generator writes for a small scenario.
extension TestGeneratorTests {
  static let whole = #"""
    // Made by CloudSyncLogTestGeneration from log.

    import CloudSyncLogTestGeneration
    import CloudSyncSession
    import Testing

    @Test("A container is gone")
    func reproducesAContainerIsGone() throws {
      var configuration = SyncConfiguration()
      configuration.timeout = .seconds(60)
      var script = SessionScript(
        zoneID: zone,
        configuration: configuration,
        time: Timestamp(nanoseconds: 1_700_000_000_000_000_000)
      )
      script.duration = .seconds(1)

      script.at(.zero, .start)
      script.at(
        .zero,
        .modify(
          ModifyOperation(
            records: [Record(recordType: "Note", recordID: id("tea"), fields: ["x": 1])],
            recordIDsToDelete: [id("coffee")]
          )
        )
      )
      script.at(
        .seconds(1),
        .modify(
          ModifyOperation(
            records: [
              Record(
                recordType: "Note",
                recordID: id("tea"),
                fields: ["text": "Earl \"Grey\"", "x": 2],
                changeTag: "+"
              )
            ]
          )
        )
      )

      script.answer(.createZone(.success(true)))
      script.answer(.createSubscription(.success(true)))
      script.answer(
        .modify(
          .success(
            ModifyOperation.Response(
              savedRecords: [
                Record(recordType: "Note", recordID: id("tea"), fields: ["x": 1], changeTag: "+")
              ],
              deletedRecordIDs: [id("coffee")]
            )
          )
        ),
        after: .milliseconds(300)
      )
      script.answer(.modify(.failure(SyncError(.badContainer, retryAfter: .seconds(3)))))

      let outcome = try script.run()

      #expect(outcome.finalError == .badContainer)
    }

    private let zone = ZoneID(name: "Notes")

    private func id(_ name: String) -> RecordID { RecordID(name: name, zoneID: zone) }

    """#

  static let short = #"""
    // Made by CloudSyncLogTestGeneration from log.

    import CloudSyncLogTestGeneration
    import CloudSyncSession
    import Testing

    @Test("Gone \"\\(1)\"\n")
    func reproducesGone1() throws {
      var script = SessionScript(zoneID: zone)

      script.at(.zero, .start)
      script.at(
        .zero,
        .modify(ModifyOperation(records: [Record(recordType: "Note", recordID: id("tea"))]))
      )

      script.answer(.modify(.failure(SyncError(.badContainer))))

      let outcome = try script.run()

      #expect(outcome.finalError == .badContainer)
    }

    private let zone = ZoneID(name: "Notes")

    private func id(_ name: String) -> RecordID { RecordID(name: name, zoneID: zone) }

    """#
}

import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension OperationHandlerConformance {
  /// Checks of what records hold, and of what they are to each other.
  static let values: [Check] = [
    Check("Bytes, places, numbers of every kind and lists come back, times as coarse as the unit") {
      probe in
      await probe.createZone()
      let record = probe.note("a", edgeValues(probe: probe))
        .roundingTimestamps(to: probe.a.timestampUnit)
      _ = await probe.save(device: probe.a, record: record)
      let page = probe.value(
        of: await probe.b.lookUp(recordIDs: [record.recordID]),
        when: "looking up"
      )
      for field in record.fields {
        let value = page?.changedRecords.first?[field.name]
        probe.expect(
          value == field.value,
          "\(field.name) came back as \(String(describing: value))"
        )
      }
    },
    Check("A number that is not finite is kept with all its bits, or refused with its record") {
      probe in
      await probe.createZone()
      let number = FieldValue.double(-.infinity)
      let answer = await probe.a.modify([probe.note("a", ["x": number])])
      if probe.capabilities.hasFiniteNumbersOnly {
        return probe.expect(answer, fails: ["a"], with: [.invalidArguments], "an infinite number")
      }
      _ = probe.value(of: answer, when: "saving an infinite number")
      let page = probe.value(
        of: await probe.b.lookUp(recordIDs: [probe.id(name: "a")]),
        when: "looking up"
      )
      probe.expect(page?.changedRecords.first?["x"] == number, "the number came back changed")
    },
    Check(
      "A field that was saved encrypted stays so, and one that was not does not become so",
      needs: .encryptedKeys
    ) {
      probe in
      await probe.createZone()
      var record = probe.note("a", ["open": "x", "secret": "y"])
      record.encryptedKeys = ["secret"]
      let saved = await probe.save(device: probe.a, record: record)
      var edit = probe.note("a", ["secret": "z"], tag: saved?.changeTag)
      edit.encryptedKeys = ["secret"]
      _ = await probe.save(device: probe.a, record: edit)
      let records = await probe.pages(device: probe.b).flatMap(\.changedRecords)
      probe.expect(
        records.last?.encryptedKeys == ["secret"],
        "the encrypted fields are \(records.last?.encryptedKeys ?? [])"
      )
    },
    Check(
      "A parent that was set stays when other fields are saved",
      needs: .parents
    ) { probe in
      await probe.createZone()
      _ = await probe.save(device: probe.a, record: probe.note("parent", ["x": 1]))
      var record = probe.note("child", ["x": 1])
      record.parent = probe.id(name: "parent")
      let saved = await probe.save(device: probe.a, record: record)
      _ = await probe.save(
        device: probe.a,
        record: probe.note("child", ["x": 2], tag: saved?.changeTag)
      )
      let page = probe.value(
        of: await probe.b.lookUp(recordIDs: [record.recordID]),
        when: "looking up"
      )
      probe.expect(page?.changedRecords.first?.parent == record.parent, "the parent is lost")
    },
    Check("A record may refer to another one of the same request, in whichever order") { probe in
      await probe.createZone()
      func link(_ name: String, to target: String) -> Record {
        let reference = Reference(recordID: probe.id(name: target))
        return probe.note(name, ["to": .reference(reference)])
      }
      let records = [link("a", to: "b"), link("b", to: "a")]
      let response = probe.value(of: await probe.a.modify(records), when: "saving a circle")
      probe.expect(response?.savedRecords.count == 2, "not both were saved")
    },
    Check(
      "Records that are deleted together with another one come as deletions",
      needs: .deletionWithTargets
    ) { probe in
      await probe.createZone()
      _ = await probe.save(device: probe.a, record: probe.note("target", ["x": 1]))
      let reference = Reference(recordID: probe.id(name: "target"), action: .deleteSelf)
      _ = await probe.save(
        device: probe.a,
        record: probe.note("source", ["to": .reference(reference)])
      )
      let token = await probe.pages(device: probe.b).last?.changeToken
      _ = probe.value(
        of: await probe.a.modify(delete: [probe.id(name: "target")]),
        when: "deleting a target"
      )
      let deleted = await probe.pages(device: probe.b, after: token).flatMap(\.deletedRecordIDs)
      probe.expect(
        Set(deleted.map(\.name)) == ["target", "source"],
        "the deletions are \(deleted.map(\.name))"
      )
    },
    Check(
      "A zone that is gone says why: deleted, purged by the user, or reset",
      needs: .zoneDeletion
    ) { probe in
      await probe.createZone()
      guard let deleteZone = probe.deleteZone else { return }
      let cases: [(ZoneDeletionReason, SyncError.Code, isReset: Bool)] = [
        (.deleted, .zoneNotFound, false), (.purged, .userDeletedZone, false),
        (.encryptedDataReset, .zoneNotFound, true),
      ]
      for (reason, code, isReset) in cases {
        await probe.createZone()
        deleteZone(reason)
        for result in [
          await probe.a.fetch().map { _ in },
          await probe.a.modify([probe.note("a", [:])]).map { _ in },
        ] {
          guard case .failure(let error) = result else {
            probe.expect(false, "a zone that is gone is there")
            continue
          }
          guard probe.capabilities.tellsDeletionReasons else {
            probe.expect(error.code == .zoneNotFound, "a zone that is gone answers \(error.code)")
            continue
          }
          probe.expect(error.code == code, "a zone that was \(reason) answers \(error.code)")
          probe.expect(
            error.isEncryptedDataReset == isReset,
            "a zone that was \(reason) is told as reset: \(error.isEncryptedDataReset)"
          )
        }
      }
    },
  ]

  /// Values at the edges of their kinds.
  private static func edgeValues(probe: ConformanceProbe) -> [String: FieldValue] {
    var values: [String: FieldValue] = [
      "bytes": .data(Data((0..<256).map { UInt8($0) })), "none": .data(Data()),
      "one": .double(1), "minusZero": .double(-0.0), "least": .double(.leastNonzeroMagnitude),
      "most": .double(.greatestFiniteMagnitude), "large": .int64(1 << 53 + 1),
      "largest": .int64(.max), "early": .timestamp(Timestamp(nanoseconds: -1_000_000_001)),
      "fine": .timestamp(Timestamp(nanoseconds: 1_700_000_000_123_456_789)),
      "place": .location(
        Location(
          latitude: -89.999_999_9,
          longitude: 179.999_999_9,
          altitude: -1.5,
          timestamp: Timestamp(nanoseconds: 1_700_000_000_123_456_789)
        )
      ),
      "allBytes": .list([.data(Data([0])), .data(Data())]), "doubles": .list([.double(2), 0.5]),
    ]
    if probe.capabilities.hasEmptyLists { values["emptyList"] = .list([]) }
    return values
  }
}

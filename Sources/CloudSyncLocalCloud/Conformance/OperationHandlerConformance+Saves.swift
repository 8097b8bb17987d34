import CloudSyncCore

extension OperationHandlerConformance {
  /// Checks of zones.
  static let zones: [Check] = [
    Check("Limits are at least one item and one byte") { probe in
      probe.expect(probe.a.limits.items >= 1, "the limit of items is \(probe.a.limits.items)")
      probe.expect(probe.a.limits.bytes >= 1, "the limit of bytes is \(probe.a.limits.bytes)")
    },
    Check("A zone can be created, and again, from any device") { probe in
      await probe.createZone()
      await probe.createZone()
      let other = probe.value(
        of: await probe.b.createZone(),
        when: "creating the zone on another device"
      )
      probe.expect(other == true, "another device is told that the zone does not exist")
    },
    Check("A zone that does not exist is reported as zoneNotFound") { probe in
      for error in [
        await probe.a.modify([probe.note("a", ["x": 1])]).failureCode,
        await probe.a.fetch().failureCode,
      ] {
        probe.expect(
          error == .zoneNotFound,
          "the response is \(error.map { "\($0)" } ?? "a success")"
        )
      }
    },
    Check("A subscription can be created, and again") { probe in
      await probe.createZone()
      for _ in 0..<2 {
        let created = probe.value(
          of: await probe.a.createSubscription(),
          when: "creating the subscription"
        )
        probe.expect(created == true, "the subscription is said not to exist")
      }
    },
  ]

  /// Checks of saves and deletions.
  static let saves: [Check] = [
    Check("A save gives every record a new change tag, in the order of the request") { probe in
      await probe.createZone()
      let names = ["c", "a", "b"]
      let answer = await probe.a.modify(names.map { probe.note($0, ["x": 1]) })
      guard let response = probe.value(of: answer, when: "saving three records") else { return }
      probe.expect(response.savedRecords.map(\.recordID.name) == names, "records or order differ")
      probe.expect(response.savedRecords.allSatisfy { $0.changeTag != nil }, "a tag is missing")
      guard let first = response.savedRecords.first else { return }
      let again = await probe.save(
        device: probe.a,
        record: probe.note("c", ["x": 2], tag: first.changeTag)
      )
      probe.expect(again?.changeTag != first.changeTag, "a second save kept the change tag")
    },
    Check("A stale change tag is a conflict that carries the server's whole record") { probe in
      await probe.createZone()
      let first = await probe.save(device: probe.a, record: probe.note("a", ["x": 1, "y": 1]))
      _ = await probe.save(
        device: probe.b,
        record: probe.note("a", ["x": 2], tag: first?.changeTag)
      )
      let answer = await probe.a.modify([probe.note("a", ["x": 3], tag: first?.changeTag)])
      probe.expect(answer, fails: ["a"], with: [.serverRecordChanged], "a stale tag")
      let server = answer.firstItemError?.serverRecord
      probe.expect(server?["x"] == 2, "the conflict does not have the server's record")
      probe.expect(server?["y"] == 1, "the server's record in the conflict is not whole")
      let merged = probe.note("a", ["x": 3], tag: server?.changeTag)
      _ = await probe.save(device: probe.a, record: merged)
    },
    Check("A record that exists is not made anew without its change tag") { probe in
      await probe.createZone()
      _ = await probe.save(device: probe.a, record: probe.note("a", ["x": 1]))
      let answer = await probe.b.modify([probe.note("a", ["x": 2])])
      probe.expect(answer, fails: ["a"], with: [.serverRecordChanged], "a save without a tag")
    },
    Check("A record that was deleted is an unknown item for a save with its tag") { probe in
      await probe.createZone()
      guard let saved = await probe.save(device: probe.a, record: probe.note("a", ["x": 1])) else {
        return
      }
      _ = probe.value(of: await probe.b.modify(delete: [saved.recordID]), when: "deleting a record")
      let answer = await probe.a.modify([probe.note("a", ["x": 2], tag: saved.changeTag)])
      probe.expect(answer, fails: ["a"], with: [.unknownItem], "a save of a deleted record")
      _ = await probe.save(device: probe.a, record: probe.note("a", ["x": 3]))
    },
    Check("A save sets its fields, removes those that are null, and keeps the others") { probe in
      await probe.createZone()
      let first = await probe.save(
        device: probe.a,
        record: probe.note("a", ["x": 1, "y": 1, "z": 1])
      )
      let edit = probe.note("a", ["x": 2, "y": .null], tag: first?.changeTag)
      _ = await probe.save(device: probe.a, record: edit)
      let page = probe.value(
        of: await probe.b.lookUp(recordIDs: [edit.recordID]),
        when: "looking up"
      )
      guard let record = page?.changedRecords.first else { return }
      probe.expect(record["x"] == 2, "a field was not set")
      probe.expect(record["y"].map(\.isNull) ?? true, "a field was not removed")
      probe.expect(record["z"] == 1, "a field that was not sent changed")
    },
    Check("A request with one bad item answers for every item, or fails as a whole") { probe in
      await probe.createZone()
      _ = await probe.save(device: probe.a, record: probe.note("taken", ["x": 1]))
      let records = [probe.note("new", ["x": 1]), probe.note("taken", ["x": 2])]
      let answer = await probe.b.modify(records)
      probe.expect(answer, fails: ["taken"], with: [.serverRecordChanged], "a mixed request")
      let isSaved =
        probe.value(
          of: await probe.a.lookUp(recordIDs: [probe.id(name: "new")]),
          when: "looking up"
        )
        .map { !$0.changedRecords.isEmpty }
      let isTold = (try? answer.get())?.savedRecords.contains { $0.recordID.name == "new" } ?? false
      probe.expect(isSaved == isTold, "what is told to be saved is not what is saved")
    },
    Check("A deletion is answered, and one of a missing record succeeds or is an unknown item") {
      probe in
      await probe.createZone()
      _ = await probe.save(device: probe.a, record: probe.note("a", ["x": 1]))
      let first = probe.value(
        of: await probe.a.modify(delete: [probe.id(name: "a")]),
        when: "deleting a record"
      )
      probe.expect(first?.deletedRecordIDs == [probe.id(name: "a")], "a deletion is not told")
      let second = await probe.a.modify(delete: [probe.id(name: "a")])
      if case .success(let response) = second, response.failures.isEmpty {
        probe.expect(response.deletedRecordIDs == [probe.id(name: "a")], "a deletion is not told")
      } else {
        probe.expect(second, fails: ["a"], with: [.unknownItem], "a second deletion")
      }
    },
    Check("A repeated request does no harm, whether its write token is known or not") { probe in
      await probe.createZone()
      let context = probe.a.context()
      let edit = probe.note("a", ["x": 1])
      let first = probe.value(
        of: await probe.a.modify([edit], context: context),
        when: "saving a record"
      )
      let again = await probe.a.modify([edit], context: context)
      if case .success(let response) = again, response.failures.isEmpty {
        let tags = response.savedRecords.map(\.changeTag)
        probe.expect(tags == first?.savedRecords.map(\.changeTag), "a repeat gave another tag")
      } else {
        probe.expect(again, fails: ["a"], with: [.serverRecordChanged], "a repeated save")
        let server = again.firstItemError?.serverRecord
        probe.expect(server?.contains(edit: edit) == true, "the conflict hides what was saved")
      }
      let records = await probe.pages(device: probe.b).flatMap(\.changedRecords)
      probe.expect(records.count == 1, "a repeat saved \(records.count) records")
    },
    Check("A request of as many items as the limits allow passes") { probe in
      await probe.createZone()
      let count = min(probe.a.limits.items, 1_000)
      let records = (0..<count).map { probe.note("r\($0)", ["x": 1]) }
      let response = probe.value(of: await probe.a.modify(records), when: "a full request")
      probe.expect(response.map { $0.savedRecords.count == count } ?? true, "records are missing")
    },
    Check("Every kind of value comes back as it was saved") { probe in
      await probe.createZone()
      _ = await probe.save(device: probe.a, record: probe.note("target", ["x": 1]))
      let record = probe.note("a", values(probe: probe))
      _ = await probe.save(device: probe.a, record: record)
      let page = probe.value(
        of: await probe.b.lookUp(recordIDs: [record.recordID]),
        when: "looking up"
      )
      for field in record.fields {
        let value = page?.changedRecords.first?[field.name]
        probe.expect(
          value == field.value,
          "the \(field.value.kind) in \(field.name) came back changed"
        )
      }
    },
  ]

  /// A value of every kind that every cloud keeps exactly.
  private static func values(probe: ConformanceProbe) -> [String: FieldValue] {
    let reference = Reference(recordID: probe.id(name: "target"))
    return [
      "text": "déjà vu — e\u{301} 👩‍👩‍👧 \u{0}end",
      "empty": "",
      "whole": .int64(.min),
      "number": .double(-0.1),
      "time": .timestamp(Timestamp(nanoseconds: 1_700_000_000_123_000_000)),
      "link": .reference(reference),
      "list": .list(["b", "a", "a"]),
      "numbers": .list([3, 1, 2]),
      "links": .list([.reference(reference)]),
    ]
  }
}

extension Result where Failure == SyncError {
  /// The code of the error; nil for a success.
  var failureCode: SyncError.Code? {
    if case .failure(let error) = self { error.code } else { nil }
  }
}

extension Result where Success == ModifyOperation.Response, Failure == SyncError {
  /// The error of the first item that failed by itself.
  var firstItemError: SyncError? {
    let failures =
      switch self {
      case .success(let response): response.failures
      case .failure(let error): error.itemErrors
      }
    return failures.first { $0.error.code != .batchRequestFailed }?.error
  }
}

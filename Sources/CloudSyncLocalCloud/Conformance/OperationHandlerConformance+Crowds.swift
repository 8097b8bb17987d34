import CloudSyncCore

extension OperationHandlerConformance {
  /// Checks of limits, of requests that contradict themselves, and of devices that work at once.
  static let crowds: [Check] = [
    Check("A request over a limit passes whole, or is refused whole as too large") { probe in
      await probe.createZone()
      let limits = probe.a.limits
      let many = (0...min(limits.items, 1_000)).map { probe.note("m\($0)", ["x": 1]) }
      let filler = FieldValue.string(String(repeating: "x", count: 400_000))
      let count = min(limits.bytes, 4_000_000) / 400_000 + 1
      let large = (0..<count).map { probe.note("l\($0)", ["text": filler]) }
      for records in [many, large] {
        switch await probe.a.modify(records) {
        case .success(let response):
          probe.expect(response.savedRecords.count == records.count, "it was carried out in part")
        case .failure(let error):
          probe.expect(error.code == .limitExceeded, "the response is \(error.code)")
          let found = await probe.a.lookUp(recordIDs: [records[0].recordID])
          let isThere = (try? found.get())?.changedRecords.isEmpty == false
          probe.expect(!isThere, "a refused request was carried out in part")
        }
      }
    },
    Check("A record twice in a request, or saved and deleted, is refused; nothing is saved") {
      probe in
      await probe.createZone()
      let record = probe.note("a", ["x": 1])
      for (records, deletions) in [
        ([record, record, probe.note("b", [:])], []), ([record], [record.recordID]),
      ] {
        let code = await probe.a.modify(records, delete: deletions).failureCode
        probe.expect(
          code == .invalidArguments || code == .limitExceeded,
          "the response is \(code.map { "\($0)" } ?? "a success")"
        )
      }
      let pages = await probe.pages(device: probe.b)
      probe.expect(pages.allSatisfy(\.isEmpty), "something was saved")
    },
    Check("A call that is given up is answered at most once, and its record is whole or missing") {
      probe in
      await probe.createZone()
      probe.a.modifyAndCancel([probe.note("a", ["x": 1, "y": 2])])
      _ = await probe.save(device: probe.a, record: probe.note("b", ["x": 1]))
      let records = await probe.pages(device: probe.b).flatMap(\.changedRecords)
      for record in records where record.recordID.name == "a" {
        probe.expect(record.fields.count == 2, "a record was saved in part")
      }
      probe.expect(records.contains { $0.recordID.name == "b" }, "the next request was lost")
    },
    Check("Two devices that take turns at random agree with a table of what was saved") { probe in
      await probe.createZone()
      var random = SplitMix64(seed: 7)
      var table: [String: (value: Int64, tag: String?)] = [:]
      for step in 0..<200 {
        let device = random.below(2) == 0 ? probe.a : probe.b
        let name = "r\(random.below(8))"
        if random.below(4) == 0 {
          let answer = await device.modify(delete: [probe.id(name: name)])
          // Of a record that is missing it may be said that it is.
          if table[name] != nil { _ = probe.value(of: answer, when: "deleting") }
          table[name] = nil
          continue
        }
        let edit = probe.note(name, ["x": .int64(Int64(step))], tag: table[name]?.tag)
        let answer = await device.modify([edit])
        guard let saved = (try? answer.get())?.savedRecords.first else {
          probe.expect(false, "step \(step) failed: \(answer)")
          return
        }
        table[name] = (Int64(step), saved.changeTag)
      }
      for device in [probe.a, probe.b] {
        let records = await probe.pages(device: device).flatMap(\.changedRecords)
        var found: [String: String] = [:]
        for record in records { found[record.recordID.name] = record.changeTag }
        probe.expect(found == table.compactMapValues(\.tag), "the feed and the table differ")
        for record in records {
          let value = table[record.recordID.name].map { FieldValue.int64($0.value) }
          probe.expect(record["x"] == value, "\(record.recordID.name) has another value")
        }
      }
    },
    Check("Who pages while others write misses nothing") { probe in
      await probe.createZone()
      let size = min(100, probe.a.limits.items)
      var names: Set<String> = []
      var found: Set<String> = []
      var token: ChangeToken?
      for batch in 0..<10 {
        let records = (0..<size).map { probe.note("r\(batch)x\($0)", ["x": 1]) }
        names.formUnion(records.map(\.recordID.name))
        async let saved = probe.a.modify(records)
        async let fetched = probe.b.fetch(token)
        _ = probe.value(of: await saved, when: "saving")
        guard let page = probe.value(of: await fetched, when: "fetching meanwhile") else { return }
        found.formUnion(page.changedRecords.map(\.recordID.name))
        token = page.changeToken
      }
      let rest = await probe.pages(device: probe.b, after: token).flatMap(\.changedRecords)
      found.formUnion(rest.map(\.recordID.name))
      probe.expect(found == names, "\(names.subtracting(found).count) records were missed")
    },
  ]
}

import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension OperationHandlerConformance {
  /// Checks of fetches.
  static let fetches: [Check] = [
    Check("An empty zone has an empty feed that ends, with a token") { probe in
      await probe.createZone()
      let pages = await probe.pages(device: probe.a)
      probe.expect(pages.allSatisfy(\.isEmpty), "the feed of an empty zone has something")
    },
    Check("Changes by one device come to the other, own ones too, whole and with their tags") {
      probe in
      await probe.createZone()
      let first = await probe.save(device: probe.a, record: probe.note("a", ["x": 1, "y": 1]))
      let last = await probe.save(
        device: probe.a,
        record: probe.note("a", ["x": 2], tag: first?.changeTag)
      )
      for device in [probe.a, probe.b] {
        let records = await probe.pages(device: device).flatMap(\.changedRecords)
        probe.expect(records.last?.changeTag == last?.changeTag, "the last tag did not come")
        probe.expect(records.last?["x"] == 2, "the last value did not come")
        probe.expect(records.last?["y"] == 1, "the record is not whole")
        probe.expect(records.count == 1, "the feed is not compacted: \(records.count) entries")
      }
    },
    Check("A deletion comes as a deletion") { probe in
      await probe.createZone()
      _ = await probe.save(device: probe.a, record: probe.note("a", ["x": 1]))
      let token = await probe.pages(device: probe.b).last?.changeToken
      _ = probe.value(
        of: await probe.a.modify(delete: [probe.id(name: "a")]),
        when: "deleting a record"
      )
      let pages = await probe.pages(device: probe.b, after: token)
      let deleted = pages.flatMap(\.deletedRecordIDs)
      probe.expect(deleted == [probe.id(name: "a")], "the deletions are \(deleted)")
      probe.expect(pages.flatMap(\.changedRecords).isEmpty, "a deleted record came as changed")
    },
    Check("A feed of many records comes whole, in pages that end") { probe in
      await probe.createZone()
      var names: [String] = []
      for batch in 0..<5 {
        let records = (0..<min(100, probe.a.limits.items))
          .map {
            probe.note("r\(batch)x\($0)", ["x": 1])
          }
        names += records.map(\.recordID.name)
        _ = probe.value(of: await probe.a.modify(records), when: "saving many records")
      }
      let fetched = await probe.pages(device: probe.b).flatMap(\.changedRecords)
        .map(\.recordID.name)
      probe.expect(Set(fetched) == Set(names), "\(fetched.count) of \(names.count) records came")
      probe.expect(fetched.count == names.count, "records came twice")
    },
    Check("A token is not used up: it gives the same page again") { probe in
      await probe.createZone()
      _ = await probe.save(device: probe.a, record: probe.note("a", ["x": 1]))
      let token = await probe.pages(device: probe.b).last?.changeToken
      _ = await probe.save(device: probe.a, record: probe.note("b", ["x": 1]))
      let first = await probe.pages(device: probe.b, after: token).flatMap(\.changedRecords)
      let second = await probe.pages(device: probe.b, after: token).flatMap(\.changedRecords)
      probe.expect(first.map(\.recordID.name) == ["b"], "the changes since a token are not all")
      probe.expect(first == second, "a token gave other changes the second time")
    },
    Check("A token holds for every device of the account") { probe in
      await probe.createZone()
      _ = await probe.save(device: probe.a, record: probe.note("a", ["x": 1]))
      let token = await probe.pages(device: probe.a).last?.changeToken
      _ = await probe.save(device: probe.a, record: probe.note("b", ["x": 1]))
      let names = await probe.pages(device: probe.b, after: token).flatMap(\.changedRecords)
        .map(\.recordID.name)
      probe.expect(names == ["b"], "another device's token gave \(names)")
    },
    Check("A token that means nothing is an error, not an empty page or a crash") { probe in
      await probe.createZone()
      guard let token = ChangeToken(Data("no token of this cloud".utf8)) else { return }
      let code = await probe.a.fetch(token).failureCode
      probe.expect(
        code == .invalidArguments || code == .changeTokenExpired,
        "the response is \(code.map { "\($0)" } ?? "a success")"
      )
    },
    Check("A look-up answers with records, and with unknown items for missing ones") { probe in
      await probe.createZone()
      let saved = await probe.save(device: probe.a, record: probe.note("a", ["x": 1]))
      let answer = await probe.b.lookUp(recordIDs: [probe.id(name: "a"), probe.id(name: "missing")])
      guard let page = probe.value(of: answer, when: "looking up") else { return }
      probe.expect(page.changedRecords.map(\.recordID.name) == ["a"], "the record was not found")
      probe.expect(page.changedRecords.first?.changeTag == saved?.changeTag, "its tag differs")
      let codes = page.failures.map(\.error.code)
      let isGone = page.deletedRecordIDs == [probe.id(name: "missing")]
      probe.expect(codes == [.unknownItem] || isGone, "a missing record is not told as missing")
    },
  ]
}

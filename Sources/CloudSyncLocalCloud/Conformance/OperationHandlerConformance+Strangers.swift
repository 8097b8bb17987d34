import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension OperationHandlerConformance {
  /// Checks of what belongs elsewhere, and of what errors say.
  static let strangers: [Check] = [
    Check(
      "A token of another zone is an error, and each zone has its own records",
      needs: .otherZone
    ) { probe in
      guard let other = probe.other else { return }
      await probe.createZone()
      _ = probe.value(of: await other.createZone(), when: "creating another zone")
      _ = await probe.save(device: probe.a, record: probe.note("a", ["x": 1]))
      let record = Record(
        recordType: "Conformance",
        recordID: RecordID(name: "b", zoneID: other.zoneID),
        fields: ["x": 2]
      )
      _ = probe.value(of: await other.modify([record]), when: "saving into another zone")
      let pages = await probe.pages(device: other)
      let names = pages.flatMap(\.changedRecords).map(\.recordID.name)
      probe.expect(names == ["b"], "the other zone has \(names)")
      let code = await probe.a.fetch(pages.last?.changeToken).failureCode
      probe.expect(
        code == .invalidArguments || code == .changeTokenExpired,
        "another zone's token is answered with \(code.map { "\($0)" } ?? "a success")"
      )
      let mine = await probe.pages(device: probe.a).flatMap(\.changedRecords)
      probe.expect(mine.map(\.recordID.name) == ["a"], "the zone has records of another one")
    },
    Check("Errors name no path of the service's, no token and no value") { probe in
      await probe.createZone()
      let secret = "value-that-nobody-repeats"
      let saved = await probe.save(device: probe.a, record: probe.note("a", ["s": .string(secret)]))
      let token = await probe.pages(device: probe.a).last?.changeToken
      var errors: [SyncError] = []
      func note<Value>(_ result: Result<Value, SyncError>) {
        if case .failure(let error) = result { errors += [error] + error.itemErrors.map(\.error) }
        if case .success(let response as ModifyOperation.Response) = result {
          errors += response.failures.map(\.error)
        }
        if case .success(let response as FetchOperation.Response) = result {
          errors += response.failures.map(\.error)
        }
      }
      let edits: [Record] = [
        probe.note("a", ["s": .string(secret + "2")], tag: "stale"),
        probe.note("b", ["s": .string(secret)], tag: "missing"),
        probe.note("c", ["no name": .string(secret)]),
        probe.note("d", ["s": 1]),
      ]
      for edit in edits { note(await probe.a.modify([edit])) }
      note(await probe.a.fetch(ChangeToken(Data("\(secret) as a token".utf8))))
      note(await probe.b.lookUp(recordIDs: [probe.id(name: "none")]))
      probe.expect(errors.count >= 4, "only \(errors.count) of the bad requests failed")
      var words = [secret, "/tmp/", "/var/", "/home/", "/Users/", ".sqlite"]
      words += [probe.capabilities.assetFolder, saved?.changeTag].compactMap { $0 }
      words += token.map { [Data($0.bytes).base64EncodedString()] } ?? []
      for error in errors {
        for word in words where error.message.contains(word) {
          probe.expect(false, "an error repeats what is nobody's business: \(error.code)")
        }
      }
    },
  ]
}

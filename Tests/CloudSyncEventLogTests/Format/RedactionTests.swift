import CloudSyncCore
import Foundation
import CloudSyncTestSupport
import Testing

@testable import CloudSyncEventLog

@Suite("Redaction")
struct RedactionTests {
  private static let rules: [Redactor] = [
    .digests(salt: 1), .drops(salt: 1), .custom(salt: 1) { value, _ in hidden(value) },
  ]

  private static func hidden(_ value: FieldValue) -> FieldValue {
    .redacted(Redaction(kind: value.kind, byteCount: value.byteCount, digest: "mine"))
  }

  /// A run whose every text that tells about the user has the word in it, as a log.
  private static func secretRun(_ redactor: Redactor) throws -> (log: [UInt8], tokens: [Data]) {
    var options = StubCloud.Options()
    options.refuse = { id, _ in
      id.name == "no" ? SyncError(.invalidArguments, "Secret message") : nil
    }
    let bench = CloudHarness(options: options, resolver: .client) { number, _ in
      number == 4 ? .failure(SyncError(.networkFailure, "Secret failure")) : nil
    }
    let recorder = EventRecorder(.ring())
    recorder.attach(to: bench.session)
    bench.session.appendMiddleware(
      AccountStatusMiddleware { $0(.available, AccountIdentity("Secret identity")) }
    )
    bench.start()
    bench.cloud.save(record("both", "Secret other"))
    for name in ["yes", "no", "both"] {
      try bench.session.modify(
        ModifyOperation(
          records: [record(name, "Secret \(name)")],
          userInfo: ["key": "Secret info"]
        )
      )
    }
    bench.session.fetch()
    bench.world.advance(by: .seconds(30))
    let tokens = bench.pages.entries.compactMap { $0.changeToken?.bytes }
    return ([UInt8](recorder.data(redactor: redactor) ?? Data()), tokens)
  }

  private static func record(_ name: String, _ text: String) -> Record {
    SessionHarness.record(
      name,
      ["title": .string(text), "blob": .data(Data("Secret".utf8)), "list": [.string(text)]]
    )
  }

  @Test("Nothing that tells about the user is in the bytes", arguments: rules.indices)
  func noSecret(rule: Int) throws {
    let (plain, tokens) = try Self.secretRun(.none)
    let (log, _) = try Self.secretRun(Self.rules[rule])
    let (plainText, text) = (
      String(decoding: plain, as: UTF8.self), String(decoding: log, as: UTF8.self)
    )

    for secret in ["other", "yes", "no", "message", "failure", "info", "identity"] {
      #expect(plainText.contains("Secret \(secret)"), "\(secret) is not in the plain log")
    }
    #expect(!text.contains("Secret"))
    #expect(!text.contains(Data("Secret".utf8).base64EncodedString()))
    #expect(!tokens.isEmpty)
    for token in tokens {
      #expect(plainText.contains(token.base64EncodedString()))
      #expect(!text.contains("\"\(token.base64EncodedString())\""))
    }
  }

  @Test("A log that hides values says so, folds, verifies and re-runs", arguments: rules.indices)
  func useful(rule: Int) throws {
    let log = try EventLog(bytes: try Self.secretRun(Self.rules[rule]).log)

    #expect(!log.header.isRestorable)
    #expect(log.header.redaction == [.digests, .dropped, .custom][rule])
    #expect(log.mismatch == nil)
    #expect(log.count > 15)
    #expect(try Replay.rerun(log).divergences.map(\.description) == [])
    #expect(try EventLog(bytes: try Self.secretRun(.none).log).header.isRestorable)
  }

  @Test("A header that hides values and says that it does not is refused")
  func lyingHeader() throws {
    let text = String(decoding: try Self.secretRun(.digests()).log, as: UTF8.self)
    let lie = text.replacingOccurrences(of: "\"isRestorable\":false", with: "\"isRestorable\":true")

    #expect(lie != text)
    #expect(throws: LogError.self) { try EventLog(bytes: Array(lie.utf8)) }
  }

  @Test("Names, kinds, sizes and tags stay, and so do the fields that are to be kept")
  func kept() throws {
    let (log, _) = try Self.secretRun(.digests(keeping: ["title"], salt: 1))
    let text = String(decoding: log, as: UTF8.self)

    #expect(text.contains("Secret yes") && !text.contains("Secret info"))
    for name in ["\"yes\"", "\"blob\"", "\"kind\":\"data\",\"byteCount\":6"] {
      #expect(text.contains(name))
    }
    #expect(
      String(decoding: try Self.secretRun(.drops(keeping: ["title"])).log, as: UTF8.self)
        .contains("Secret yes")
    )
  }

  @Test("Digests are one to one within a log, and another salt gives others")
  func oneToOne() throws {
    let values: [FieldValue] = [
      "", "a", "é", "e\u{301}", .int64(1), .double(1), .timestamp(Timestamp(nanoseconds: 1)),
      .data(Data()), .data(Data("a".utf8)), [], ["a"], [["a"]], ["a", "b"], .double(-0.0),
      .double(0),
    ]
    let redactor = try #require(Redactor.digests(salt: 3).active)
    let other = try #require(Redactor.digests(salt: 4).active)
    var seen: [FieldValue] = []
    for value in values {
      let hidden = redactor.value(value, of: "x")
      #expect(hidden == redactor.value(value, of: "y"))
      #expect(hidden.redactedValue?.kind == value.kind)
      #expect(hidden.byteCount == value.byteCount)
      #expect(hidden != other.value(value, of: "x"))
      #expect(!seen.contains(hidden))
      seen.append(hidden)
      #expect(redactor.value(hidden, of: "x") == hidden)
    }
    #expect(redactor.value(.null, of: "x") == .null)
  }

  @Test("Texts are hidden apart by what they are, and the empty one stays empty")
  func parts() throws {
    let redactor = try #require(Redactor.digests(salt: 3).active)
    let parts: [PrivatePart] = [.userInfo, .message, .accountIdentity]
    #expect(Set(parts.map { redactor.text("same", as: $0) }).count == parts.count)
    #expect(redactor.text("", as: .message) == "")
    #expect(redactor.text("a", as: .message) != redactor.text("b", as: .message))
    #expect(redactor.bytes(Data(), as: .changeToken) != Data())

    let drops = try #require(Redactor.drops(salt: 3).active)
    #expect(drops.text("a", as: .message) == "" && drops.text("a", as: .userInfo) == "")
    #expect(drops.text("a", as: .accountIdentity) != drops.text("b", as: .accountIdentity))
    #expect(drops.bytes(Data([1]), as: .changeToken) != drops.bytes(Data([2]), as: .changeToken))
    #expect(drops.value("a", of: "x") == drops.value("b", of: "x"))
  }

  @Test("A redactor without a salt has one of its own")
  func freshSalts() throws {
    let (one, two) = (
      try #require(Redactor.digests().active), try #require(Redactor.digests().active)
    )
    #expect(one.value("a", of: "x") == one.value("a", of: "x"))
    #expect(one.value("a", of: "x") != two.value("a", of: "x"))
  }

  @Test("Every event and its redacted form have one skeleton", arguments: rules.indices)
  func skeletons(rule: Int) throws {
    let log = try EventLog(bytes: try LogHarness.eventfulRun().bytes)
    try log.forEachStep { (step) throws(LogError) in
      let bytes = LineForm.write(step.record, Self.rules[rule])
      let hidden = try? LineForm.read(EventRecord.self, bytes)
      #expect(hidden.map { SkeletonDigest.of($0) } == SkeletonDigest.of(step.record))
      return true
    }
  }
}

import CloudSyncCore
import CloudSyncTestSupport
import CloudSyncWire
import Testing

@Suite("Errors on the wire")
struct WireErrorTests {
  private static let zone = ZoneID(name: "Notes")
  private static let record = Record(
    recordType: "Note",
    recordID: RecordID(name: "a", zoneID: zone),
    fields: ["x": 1],
    changeTag: "old"
  )

  private func modify() -> WireCall<ModifyOperation.Response> {
    let operation = ModifyOperation(records: [Self.record])
    let modification = WireModification(operation, zoneID: Self.zone, isAtomic: false)
    return .modify(modification, writeToken: WriteToken(nonce: 1, number: 2))
  }

  private func fetch() throws -> WireCall<FetchOperation.Response> {
    try WireCall.fetch(FetchOperation(), in: Self.zone).get()
  }

  private func response(_ status: Int, _ text: String, _ headers: HTTPHeaders = [:]) -> HTTPResponse
  {
    HTTPResponse(status: status, headers: headers, body: Array(text.utf8))
  }

  @Test(
    "A code of the API means one of CloudKit's, whatever the status",
    arguments: [
      ("ACCESS_DENIED", 10), ("AUTHENTICATION_FAILED", 9), ("AUTHENTICATION_REQUIRED", 9),
      ("BAD_REQUEST", 12), ("CHANGE_TOKEN_EXPIRED", 21), ("CONFLICT", 14), ("EXISTS", 14),
      ("INTERNAL_ERROR", 1), ("NOT_FOUND", 11), ("QUOTA_EXCEEDED", 25), ("THROTTLED", 7),
      ("TRY_AGAIN_LATER", 6), ("SERVICE_UNAVAILABLE", 6), ("VALIDATING_REFERENCE_ERROR", 31),
      ("ZONE_NOT_FOUND", 26), ("UNIQUE_FIELD_ERROR", 19), ("ATOMIC_ERROR", 2), ("NEW_ONE", 0),
    ]
  )
  func codes(name: String, code: Int) throws {
    let text = #"{"uuid":"u","serverErrorCode":"\#(name)","reason":"r","unknown":[1]}"#
    for status in [400, 409, 500] {
      let error = modify().answer(response(status, text), now: .distantPast).failure
      #expect(error?.code == SyncError.Code(rawValue: code))
      #expect(error?.message.hasSuffix("r") == true)
    }
    // Of one item.
    let item = #"{"records":[{"recordName":"a","serverErrorCode":"\#(name)","reason":"r"}]}"#
    let answer = try modify().answer(response(200, item), now: .distantPast).get()
    let expected = name == "ATOMIC_ERROR" ? 22 : code
    #expect(answer.failures.map(\.error.code.rawValue) == [expected])
  }

  @Test(
    "A status without a code means what it can mean",
    arguments: [
      (301, 34, 4), (302, 34, 4), (400, 12, 12), (401, 9, 9), (403, 10, 10), (404, 5, 5),
      (408, 34, 4), (412, 31, 31), (413, 27, 27), (421, 4, 4), (429, 7, 7), (500, 1, 1),
      (502, 34, 4), (503, 6, 6), (504, 34, 4), (600, 34, 4),
    ]
  )
  func statuses(status: Int, ofModification: Int, ofFetch: Int) throws {
    for text in ["", "<html>", "{}"] {
      let modified = modify().answer(response(status, text), now: .distantPast).failure
      let fetched = try fetch().answer(response(status, text), now: .distantPast).failure
      #expect(modified?.code.rawValue == ofModification)
      #expect(fetched?.code.rawValue == ofFetch)
    }
  }

  @Test("42. Unknown continuations mean an expired token, other bad requests do not")
  func continuations() throws {
    for (reason, code) in [
      ("Unknown sync continuation type", 21), ("Invalid continuation format", 21), ("other", 12),
    ] {
      let text = """
        {"zones":[{"zoneID":{"zoneName":"Notes"},"serverErrorCode":"BAD_REQUEST",
        "reason":"\(reason)"}]}
        """
      let error = try fetch().answer(response(200, text), now: .distantPast).failure
      #expect(error?.code.rawValue == code)
      // As the error of the whole request, and with more words around it.
      let whole = #"{"serverErrorCode":"BAD_REQUEST","reason":"r: \#(reason) (7)"}"#
      let refused = try fetch().answer(response(400, whole), now: .distantPast).failure
      #expect(refused?.code.rawValue == code)
    }
  }

  @Test(
    "42. After an unknown continuation a session starts over; another bad request ends its fetch",
    arguments: [
      ("Unknown sync continuation type", true), ("Invalid continuation format", true),
      ("other", false),
    ]
  )
  func startsOver(reason: String, isExpired: Bool) throws {
    let text = #"{"serverErrorCode":"BAD_REQUEST","reason":"\#(reason)"}"#
    let found = try fetch().answer(response(400, text), now: .distantPast).failure
    let refusal = try #require(found)
    let page = FetchOperation.Response(
      changedRecords: [Self.record],
      changeToken: ChangeToken(text: "new")
    )
    let bench = SessionHarness(
      script: .init(fetch: { operation, _ in
        operation.changeToken == nil ? .success(page) : .failure(refusal)
      })
    )
    bench.start()
    let old = ChangeToken(text: "old")
    bench.session.fetch(FetchOperation(changeToken: old))
    bench.world.advance(by: .seconds(600))

    let tokens = bench.handler.fetchCalls.map { $0.fetch?.changeToken }
    if isExpired {
      #expect(tokens == [old, nil])
      #expect(bench.pages.entries.map(\.startedOver) == [true])
      #expect(bench.pages.entries.flatMap(\.changedRecords).count == 1)
      #expect(bench.failures.entries.isEmpty)
    } else {
      #expect(tokens == [old])
      #expect(bench.pages.entries.isEmpty)
      #expect(bench.failures.entries.map(\.error.code) == [.invalidArguments])
    }
  }

  @Test("46. A captive portal and a redirect are a network that is away, or a lost response")
  func portals() throws {
    for found in [response(200, "<html>Sign in</html>"), response(302, "", ["Location": "x"])] {
      #expect(modify().answer(found, now: .distantPast).failure?.code == .serverResponseLost)
      #expect(try fetch().answer(found, now: .distantPast).failure?.code == .networkFailure)
    }
  }

  /// What a response of too many requests means that came on Sun, 06 Nov 1994 08:49:37 GMT.
  private func throttled(_ body: String, _ header: String?) throws -> SyncError? {
    var headers: HTTPHeaders = [:]
    headers["retry-after"] = header
    let text = #"{"serverErrorCode":"THROTTLED","reason":"r"\#(body)}"#
    let now = Timestamp(nanoseconds: 784_111_777_000_000_000)
    return try fetch().answer(response(429, text, headers), now: now).failure
  }

  @Test("47. Waits as a number, text, a date and many hours are obeyed; the larger of two counts")
  func waits() throws {
    func wait(_ body: String, _ header: String?) throws -> Int64? {
      try throttled(body, header)?.retryAfter
        .map { $0.components.seconds * 1_000 + $0.components.attoseconds / 1_000_000_000_000_000 }
    }
    #expect(try wait(#","retryAfter":30"#, nil) == 30_000)
    #expect(try wait(#","retryAfter":"30""#, nil) == 30_000)
    #expect(try wait(#","retryAfter":23.5"#, "11") == 23_500)
    #expect(try wait(#","retryAfter":11"#, "23") == 23_000)
    #expect(try wait("", "110207") == 110_207_000)
    #expect(try wait("", "Sun, 06 Nov 1994 08:50:07 GMT") == 30_000)
    #expect(try wait("", "Sun, 06 Nov 1994 08:00:00 GMT") == 0)
    #expect(try wait(#","retryAfter":-1"#, "soon") == nil)
    #expect(try wait(#","retryAfter":"NaN""#, nil) == nil)
    #expect(try wait("", "Thu, 29 Feb 1996 00:00:00 GMT") == 41_440_223_000)
  }

  @Test(
    "47. A session sends nothing before a wait of any form is over, up to its cap of a day",
    arguments: [
      (#","retryAfter":30"#, "", 30), (#","retryAfter":"30""#, "", 30),
      ("", "Sun, 06 Nov 1994 08:50:07 GMT", 30), ("", "110207", 86_400),
      (#","retryAfter":110207"#, "", 86_400),
    ]
  )
  func obeyed(body: String, header: String, seconds: Int) throws {
    let refusal = try #require(try throttled(body, header.isEmpty ? nil : header))
    let bench = SessionHarness(
      script: .init(modify: { operation, number in
        number == 0 ? .failure(refusal) : .success(ScriptedHandler.allSaved(operation))
      })
    )
    try bench.modify([SessionHarness.record("a")])
    bench.start()
    bench.world.advance(by: .seconds(seconds - 1))
    #expect(bench.handler.modifyCalls.count == 1)
    // Devices that were told the same do not all come back at once: up to an eighth is added.
    bench.world.advance(by: .seconds(seconds / 8 + 2))
    #expect(bench.handler.modifyCalls.count == 2)
    #expect(bench.completions.entries.map(\.response.savedRecords.count) == [1])
  }

  @Test("41. An atomic error is understood as a whole response and as items")
  func atomic() throws {
    let whole = #"{"serverErrorCode":"ATOMIC_ERROR","reason":"r"}"#
    #expect(
      modify().answer(response(400, whole), now: .distantPast).failure?.code == .partialFailure
    )
    let told = #"""
      {"serverErrorCode":"ATOMIC_ERROR","records":[
      {"recordName":"a","serverErrorCode":"BAD_REQUEST","reason":"r"}]}
      """#
    let error = modify().answer(response(400, told), now: .distantPast).failure
    #expect(error?.code == .partialFailure)
    #expect(error?.itemErrors.map(\.error.code) == [.invalidArguments])
    let items = #"{"records":[{"recordName":"a","serverErrorCode":"ATOMIC_ERROR"}]}"#
    let answer = try modify().answer(response(200, items), now: .distantPast).get()
    #expect(answer.failures.map(\.error.code) == [.batchRequestFailed])
  }

  /// Answers as a service that saves all of a request or nothing, and never the record "b".
  private static func atomicAnswer(
    to operation: ModifyOperation,
    isWhole: Bool
  ) -> Result<ModifyOperation.Response, SyncError> {
    let modification = WireModification(operation, zoneID: zone, isAtomic: true)
    let call = WireCall.modify(modification, writeToken: nil)
    func answer(_ status: Int, _ body: [UInt8]) -> Result<ModifyOperation.Response, SyncError> {
      call.answer(HTTPResponse(status: status, body: body), now: .distantPast)
    }
    let names = operation.records.map(\.recordID.name)
    guard names.contains("b") else {
      return answer(200, modification.body(of: ScriptedHandler.allSaved(operation)))
    }
    if isWhole, names.count > 1 {
      return answer(400, Array(#"{"serverErrorCode":"ATOMIC_ERROR","reason":"r"}"#.utf8))
    }
    let items = names.map { name in
      let code = name == "b" ? "BAD_REQUEST" : "ATOMIC_ERROR"
      return #"{"recordName":"\#(name)","serverErrorCode":"\#(code)","reason":"r"}"#
    }
    let list = items.joined(separator: ",")
    return answer(200, Array(#"{"records":[\#(list)]}"#.utf8))
  }

  @Test(
    "41. Of an atomic request with one bad record the others are saved, however it is told",
    arguments: [true, false]
  )
  func atomicRequest(isWhole: Bool) throws {
    let bench = SessionHarness(
      script: .init(modify: { operation, _ in
        .now(Self.atomicAnswer(to: operation, isWhole: isWhole))
      })
    )
    try bench.modify(["a", "b", "c"].map { SessionHarness.record($0) })
    bench.start()
    bench.world.advance(by: .seconds(3_600))

    let response = try #require(bench.completions.entries.first?.response)
    #expect(response.savedRecords.map(\.recordID.name).sorted() == ["a", "c"])
    #expect(response.failures.map(\.recordID.name) == ["b"])
    // Its own error, and not that of the request.
    #expect(response.failures.map(\.error.code) == [.invalidArguments])
    #expect(bench.completions.entries.count == 1 && !bench.state.isHalted)
    #expect(bench.handler.modifyCalls[0].names == ["a", "b", "c"])
  }

  @Test("44. A response whose items do not fit the request counts as lost")
  func misfits() {
    let good = #"{"recordName":"a","recordType":"Note","recordChangeTag":"t"}"#
    for list in [
      "[]", "[\(good),\(good)]", "[\(good.replacing("\"a\"", with: "\"b\""))]",
      #"[{"recordName":"a","recordType":"Note"}]"#, #"[{"recordName":"a","deleted":true}]"#,
      "[{}]", "{}", "[1]", "null",
    ] {
      let found = response(200, #"{"records":\#(list)}"#)
      let error = modify().answer(found, now: .distantPast).failure
      #expect(error?.code == .serverResponseLost, "\(list)")
    }
    let found = response(200, #"{"records":[\#(good)]}"#)
    #expect(modify().answer(found, now: .distantPast).failure == nil)
  }

  @Test(
    "A response tells the server's records of conflicts as long as it has room; the rest is looked up"
  )
  func largeConflicts() throws {
    let text = FieldValue.string(String(repeating: "x", count: 900_000))
    let records = (0..<20)
      .map { number in
        Record(
          recordType: "Note",
          recordID: RecordID(name: "r\(number)", zoneID: Self.zone),
          fields: ["text": text]
        )
      }
    let operation = ModifyOperation(records: records.map { $0.withChangeTag("old") })
    let modification = WireModification(operation, zoneID: Self.zone, isAtomic: false)
    let failures = records.map { record -> ItemFailure in
      var error = SyncError(.serverRecordChanged, "why")
      error.serverRecord = record
      return ItemFailure(record.recordID, error)
    }
    let body = modification.body(of: ModifyOperation.Response(failures: failures))
    #expect(body.count < 6_000_000)
    let response = try modification.response(reading: body).get()
    #expect(response.failures.count == 20)
    let told = response.failures.count { $0.error.serverRecord != nil }
    #expect(told == 5)
    let lookup = try #require(WireConflicts(in: response))
    #expect(lookup.recordIDs == records.dropFirst(told).map(\.recordID))
  }

  @Test("A look-up that has no room for a record says so, and the record is looked up again")
  func largeLookups() throws {
    let recordIDs = ["a", "b"].map { RecordID(name: $0, zoneID: Self.zone) }
    let lookup = WireLookup(recordIDs, zoneID: Self.zone)
    let found = FetchOperation.Response(changedRecords: [Self.record], changeToken: nil)
    let page = try lookup.response(reading: lookup.body(of: found)).get()
    #expect(page.changedRecords.map(\.recordID.name) == ["a"])
    // Nothing is known of the other one: it is not gone.
    #expect(page.failures.isEmpty)
  }

  @Test("Every error of the project's own server comes back as it was", arguments: 1...37)
  func roundTrip(code: Int) throws {
    var error = SyncError(SyncError.Code(rawValue: code), "why", retryAfter: .milliseconds(23_500))
    error.isEncryptedDataReset = code == 26
    if code == 14 {
      error.clientRecord = Self.record
      error.serverRecord = Self.record.withChangeTag("new")
    }
    let operation = ModifyOperation(records: [Self.record])
    let modification = WireModification(operation, zoneID: Self.zone, isAtomic: false)
    let failures = [ItemFailure(Self.record.recordID, error)]
    let body = modification.body(of: ModifyOperation.Response(failures: failures))

    var expected = failures
    if code == 21 { expected[0].error.message = WireErrorTable.expiredToken }
    #expect(try modification.response(reading: body).get().failures == expected)
  }
}

extension Result where Failure == SyncError {
  var failure: SyncError? { if case .failure(let error) = self { error } else { nil } }
}

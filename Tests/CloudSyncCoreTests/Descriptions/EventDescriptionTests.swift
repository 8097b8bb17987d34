import CloudSyncTestSupport
import Testing

@testable import CloudSyncCore

@Suite("Descriptions of events")
struct EventDescriptionTests {
  private let attempt = Attempt(epoch: 1, number: 2)

  private var flight: Flight {
    Flight(
      attempt: attempt,
      mode: .modify,
      count: 3,
      deadline: Deadline(from: Timestamp(nanoseconds: 0), nanoseconds: 1_000_000_000),
      startedBy: 7
    )
  }

  /// Events that know something secret: names, owners, keys and messages.
  private var secrets: [SyncEvent] {
    let id = SessionHarness.id("secret")
    let item = ItemFailure(id, SyncError(.zoneBusy, "secret"))
    let error = SyncError(.partialFailure, "secret", itemErrors: [item])
    let zone = ZoneID(name: "secret", owner: "secret")
    let work = ModifyOperation(
      records: [SessionHarness.record("secret")],
      recordIDsToDelete: [SessionHarness.id("secret too")],
      userInfo: ["secretkey": "secret info"]
    )
    let response = ModifyOperation.Response(deletedRecordIDs: [id], failures: [item])
    return [
      .halt(error), .doWork(.modify(work)), .doWork(.createZone(CreateZoneOperation(zoneID: zone))),
      .retryParked([id]), .dropParked([id]), .workSuccess(attempt, .modify(response)),
      .workFailure(attempt, error), .failFetch(attempt, error),
      .settleItems(attempt, Settlement(verdicts: [.park(item.error)], halt: error, error: error)),
      .retry(attempt, Retry(error: error, wait: Wait(.service))),
      .split(attempt, Split(error: error, isTooLarge: true)), .startOver(attempt, nil, error),
      .workDropped(.modify(work)),
    ]
  }

  @Test("Names and messages are told only where they are asked for, owners and keys never")
  func redaction() {
    let whole = EventDescription(showsNames: true, showsMessages: true)
    for event in secrets {
      #expect(!EventDescription().text(of: event).contains("secret"), "\(event.name)")
      #expect(whole.text(of: event).contains("secret"), "\(event.name)")
    }
    let named = EventDescription(showsNames: true)
    #expect(named.text(of: secrets[2]) == "createZone (secret)")
    #expect(named.text(of: secrets[6]) == "1.2: partialFailure: secret zoneBusy")
    #expect(named.text(of: secrets[7]) == "1.2: partialFailure")
  }

  @Test("A request is named by its kind where it is known, and one that is over is told apart")
  func requests() {
    let description = EventDescription()
    let failure = SyncEvent.workFailure(attempt, SyncError(.zoneBusy))
    #expect(description.text(of: failure) == "1.2: zoneBusy")
    #expect(description.text(of: failure, request: .known(flight)) == "modify 1.2: zoneBusy")
    #expect(
      description.text(of: failure, request: .known(nil))
        == "1.2, no longer in flight: zoneBusy"
    )
    let made = SyncEvent.startWork(SyncRequest(mode: .modify))
    #expect(description.text(of: made) == "modify")
    #expect(description.text(of: made, request: .known(flight)) == "modify 1.2, 3 records")
    #expect(description.text(of: made, request: .known(nil)) == "modify: nothing to send")
  }

  @Test("A retry says when and why, and whether the same request is made again")
  func retries() {
    var wait = Wait(.service)
    let retry = { SyncEvent.retry(attempt, Retry(error: SyncError(.zoneBusy), wait: wait)) }
    #expect(retry().line == "retry 1.2: zoneBusy; retries later (service busy)")
    wait.nanoseconds = 3_250_000_000
    #expect(retry().line == "retry 1.2: zoneBusy; retries in 3.25 s (service busy)")
    let lost = Retry(error: SyncError(.serverResponseLost), wait: wait, isLost: true)
    #expect(
      SyncEvent.retry(attempt, lost).line
        == "retry 1.2: serverResponseLost; the response is lost; retries the same request in 3.25 s"
    )
  }
}

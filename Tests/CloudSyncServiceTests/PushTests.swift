import CloudSyncCore
import CloudSyncService
import CloudSyncTestSupport
import CloudSyncWebServices
import Foundation
import Testing

@Suite("Pushes over HTTP")
struct PushTests {
  private let world = ServiceWorld()

  /// The address at which a device waits.
  private func courier(
    _ device: String,
    _ account: AccountIdentity = ServiceWorld.alice
  ) async throws
    -> String
  {
    let token = ServiceWorld.token(device, account)
    world.tokens.add(token: token, access: ServiceAccess(account: account, device: device))
    let request = HTTPRequest(
      method: "POST",
      target: "/database/1/cloudsync/production/tokens/create",
      headers: ["Authorization": "Bearer \(token)"],
      body: Array("{}".utf8)
    )
    let text = await world.service.respond(to: request).text
    let start = try #require(text.range(of: "/courier/1/")?.lowerBound)
    return String(text[start...].prefix { $0 != "\"" })
  }

  /// What has come of a poll so far.
  private func poll(_ address: String, headers: HTTPHeaders = [:]) -> Locked<[HTTPResponse]> {
    let answers = Locked<[HTTPResponse]>([])
    let request = HTTPRequest(method: "GET", target: address, headers: headers)
    world.service.respond(to: request) { answer in answers.withLock { $0.append(answer) } }
    return answers
  }

  private func isWaiting(_ answers: Locked<[HTTPResponse]>) -> Bool {
    answers.withLock { $0.isEmpty }
  }

  private func isChange(_ answers: Locked<[HTTPResponse]>) -> Bool {
    answers.withLock { $0.count == 1 && $0[0].status == 200 && !$0[0].body.isEmpty }
  }

  @Test("72. The first poll of a device is answered at once; others wait for a change by another")
  func wait() async throws {
    let (mac, phone) = (try await courier("mac"), try await courier("phone"))
    #expect(isChange(poll(mac)) && isChange(poll(phone)))
    let (waiting, other) = (poll(mac), poll(phone))
    let stranger = try await courier("mac", ServiceWorld.bob)
    #expect(isChange(poll(stranger)))
    let strange = poll(stranger)
    #expect(isWaiting(waiting) && isWaiting(other) && isWaiting(strange))
    #expect(world.service.waitingPolls == 3)

    let handler = try world.handler("phone")
    _ = await handler.createZone()
    _ = await handler.modify([note("a")], token: 1)
    #expect(isChange(waiting))
    #expect(isWaiting(other) && isWaiting(strange), "neither who made it, nor another account")
    #expect(isWaiting(poll(mac)), "it was told")
  }

  @Test("72. Devices that wait are all told of a change, once, also thousands")
  func crowd() async throws {
    let count = SuiteSize.count(200, long: 5_000)
    let told = Locked([Int](repeating: 0, count: count))
    for number in 0..<count {
      let address = try await courier("d\(number)")
      let request = HTTPRequest(method: "GET", target: address)
      #expect(!(await world.service.respond(to: request)).body.isEmpty)
      world.service.respond(to: request) { response in
        told.withLock { $0[number] += response.body.isEmpty ? 100 : 1 }
      }
    }
    #expect(world.service.waitingPolls == count)
    _ = try await world.handler("writer").createZone().get()
    _ = try await world.handler("writer").modify([note("a")], token: 1).get()
    #expect(told.withLock { $0.allSatisfy { $0 == 1 } })
    #expect(world.service.waitingPolls == 0)
  }

  @Test("72. Where no word comes any more, a device fetches five minutes after the last one")
  func silence() async throws {
    let client = try world.client("mac")
    let changes = Locked<[Timestamp]>([])
    let polls = Locked(0)
    let (ended, end) = AsyncStream<Void>.makeStream()
    let (stopped, stop) = AsyncStream<Void>.makeStream()
    // Polls end without a word, as where a server does not hear of what others of its kind do.
    world.transport.onRequest { [world] (request, _) throws(HTTPTransportError) in
      guard request.target.hasPrefix("/courier/") else { return nil }
      world.advance(by: .seconds(50))
      let count = polls.withLock { count in
        count += 1
        return count
      }
      if count < 20 { return .answer(HTTPResponse(status: 200)) }
      // It waits in its pause then: polls that never suspend would keep a thread from all other tests.
      end.finish()
      throw HTTPTransportError(.notSent, "the server is away")
    }
    let start = world.now
    let pushes = WebServicesPushes(
      client: client,
      now: { [world] in world.now },
      pause: { _ in for await _ in stopped {} },
      onChange: { [world] in
        let time = world.now
        changes.withLock { $0.append(time) }
      }
    )
    pushes.start()
    for await _ in ended {}
    pushes.stop()
    stop.finish()
    let times = changes.withLock { $0 }.map { start.distance(to: $0) / 1_000_000_000 }
    #expect(times.prefix(3) == [300, 600, 900])
  }

  @Test("A change between two polls is told by the next; a poll ends without one in time")
  func betweenPolls() async throws {
    let mac = try await courier("mac")
    #expect(isChange(poll(mac)))
    let handler = try world.handler("phone")
    _ = await handler.createZone()
    _ = await handler.modify([note("a")], token: 1)
    #expect(isChange(poll(mac)))

    let first = poll(mac)
    let second = poll(mac)
    #expect(first.withLock { $0.map(\.body) } == [[]], "who asks again lets go of the first")
    world.advance(by: .seconds(49))
    world.service.answerPolls()
    #expect(isWaiting(second))
    world.advance(by: .seconds(2))
    world.service.answerPolls()
    #expect(second.withLock { $0.map(\.status) } == [200] && second.withLock { $0[0].body } == [])
  }

  @Test("A change that nobody can name is told to all, and at the end nobody waits")
  func toAll() async throws {
    let (mac, phone) = (try await courier("mac"), try await courier("phone"))
    _ = (poll(mac), poll(phone))
    let waiting = [poll(mac), poll(phone)]
    world.service.announce(nil)
    #expect(waiting.allSatisfy(isChange))
    #expect(isChange(poll(mac)))
    let last = poll(mac)
    world.service.answerPolls(all: true)
    #expect(last.withLock { $0.map(\.body) } == [[]])
    #expect(poll(mac).withLock { $0.map(\.body) } == [[]])
  }

  @Test("63, 66. An address that is forged, another's or of a token that was revoked is none")
  func foreign() async throws {
    let mac = try await courier("mac")
    _ = poll(mac)
    let none = poll("/courier/1/abcdef").withLock { $0 }
    #expect(none.map(\.status) == [404])
    var forged = mac
    forged.removeLast()
    forged += mac.hasSuffix("0") ? "1" : "0"
    #expect(poll(forged).withLock { $0 } == none)
    _ = try await courier("phone", ServiceWorld.bob)
    let token = ServiceWorld.token("phone", ServiceWorld.bob)
    let foreign = poll(mac, headers: ["Authorization": "Bearer \(token)"])
    #expect(foreign.withLock { $0 } == none)
    world.tokens.revoke(token: ServiceWorld.token("mac"))
    #expect(poll(mac).withLock { $0 } == none)
  }

  @Test("66. A poll that waits while its token is revoked ends in its time, and there is no other")
  func revoked() async throws {
    let mac = try await courier("mac")
    #expect(isChange(poll(mac)))
    let waiting = poll(mac)
    world.tokens.revoke(token: ServiceWorld.token("mac"))
    #expect(await world.post("users/caller", "", as: "mac").status == 401)
    world.advance(by: .seconds(50))
    world.service.answerPolls()
    #expect(waiting.withLock { $0.map(\.status) } == [200] && waiting.withLock { $0[0].body } == [])
    #expect(world.service.waitingPolls == 0)
    #expect(poll(mac).withLock { $0.map(\.status) } == [404])
  }

  @Test("A client hears of changes, and after a gap it takes for granted that it has missed one")
  func client() async throws {
    let client = try world.client("mac")
    let handler = try world.handler("phone")
    _ = await handler.createZone()
    let calls = AsyncStream.makeStream(of: Void.self)
    let pauses = Locked<[Duration]>([])
    world.transport.onRequest { (request, number) throws(HTTPTransportError) in
      // The second poll breaks.
      guard request.path.hasPrefix("/courier/"), number == 3 else { return nil }
      throw HTTPTransportError(.sent, "the connection was lost")
    }
    let pushes = WebServicesPushes(
      client: client,
      now: { world.now },
      pause: { pause in pauses.withLock { $0.append(pause) } },
      onChange: { calls.continuation.yield() }
    )
    pushes.start()
    var heard = calls.stream.makeAsyncIterator()
    // The first poll is answered at once, the second breaks, and the gap counts.
    _ = await heard.next()
    _ = await heard.next()
    #expect(pauses.withLock { $0 } == [.seconds(1)])
    while world.service.waitingPolls == 0 { await Task.yield() }
    #expect(pushes.problem == nil)
    _ = await handler.modify([note("a")], token: 1)
    _ = await heard.next()
    pushes.stop()
  }

  @Test("Who begins to wait again is told at once: nothing was heard meanwhile")
  func startedAgain() async throws {
    let calls = AsyncStream.makeStream(of: Void.self)
    let pushes = WebServicesPushes(
      client: try world.client("mac"),
      now: { [world] in world.now },
      pause: { _ in await Task.yield() },
      onChange: { calls.continuation.yield() }
    )
    var heard = calls.stream.makeAsyncIterator()
    pushes.start()
    // The first poll is answered at once.
    _ = await heard.next()
    while world.service.waitingPolls == 0 { await Task.yield() }
    pushes.stop()
    pushes.start()
    _ = await heard.next()
    pushes.stop()
  }
}

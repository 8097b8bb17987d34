import CloudSyncCore
import CloudSyncService
import CloudSyncWebServices
import Foundation
import Testing

@Suite("How fast requests may come to a service")
struct RequestRateTests {
  private func world(_ change: (inout ServiceLimits) -> Void) throws -> ServiceWorld {
    var limits = ServiceLimits()
    change(&limits)
    let world = ServiceWorld(limits: limits)
    _ = try world.client("phone")
    _ = try world.client("pad")
    return world
  }

  private func list(_ world: ServiceWorld, _ device: String) async -> HTTPResponse {
    await world.post("zones/list", "", as: device)
  }

  @Test(
    "A device that sends too fast is told to wait; others are not, and after the wait it goes on"
  )
  func devices() async throws {
    let world = try world { $0.requests = ServiceRate(burst: 5, perSecond: 2) }
    for _ in 0..<5 { #expect(await list(world, "phone").status == 200) }
    let refused = await list(world, "phone")
    #expect(refused.status == 429)
    #expect(refused.text.contains(#""serverErrorCode":"THROTTLED""#))
    #expect(refused.text.contains(#""retryAfter":1,"#))
    #expect(await list(world, "pad").status == 200)
    // What was refused did not count.
    world.advance(by: .seconds(1))
    #expect(await list(world, "phone").status == 200)
    #expect(await list(world, "phone").status == 200)
    #expect(await list(world, "phone").status == 429)
    world.advance(by: .seconds(3_600))
    for _ in 0..<5 { #expect(await list(world, "phone").status == 200) }
    #expect(await list(world, "phone").status == 429)
  }

  @Test("A session's handler hears of the wait")
  func handler() async throws {
    let world = try world { $0.requests = ServiceRate(burst: 1, perSecond: 1) }
    let phone = try world.handler("phone")
    _ = try await phone.createZone().get()
    let error = await phone.modify([note("a")], token: 1).error
    #expect(error?.code == .requestRateLimited && error?.retryAfter == .seconds(1))
  }

  @Test("A clock that is set back keeps nobody out for longer than a full burst lasts")
  func clockBack() async throws {
    let world = try world { $0.requests = ServiceRate(burst: 2, perSecond: 1) }
    for _ in 0..<3 { _ = await list(world, "phone") }
    world.advance(by: .seconds(-3_600))
    #expect(await list(world, "phone").status == 429)
    world.advance(by: .seconds(2))
    #expect(await list(world, "phone").status == 200)
  }

  @Test("67. 1,000 wrong tokens from one address: not listened to; a right one elsewhere is served")
  func wrongTokens() async throws {
    let world = try world { $0.wrongTokens = ServiceRate(burst: 20, perSecond: 1) }
    func status(_ token: String, from address: String?) async -> Int {
      let request = HTTPRequest(
        method: "GET",
        target: "/database/1/cloudsync/production/private/zones/list",
        headers: ["Authorization": "Bearer \(token)"]
      )
      return await world.service.respond(to: request, from: address).status
    }
    var counts: [Int: Int] = [:]
    for number in 0..<1_000 {
      counts[await status("wrong\(number)", from: "10.0.0.1"), default: 0] += 1
    }
    #expect(counts == [401: 20, 429: 980])
    let right = ServiceWorld.token("phone")
    #expect(await status(right, from: "10.0.0.2") == 200)
    #expect(await status(right, from: nil) == 200)
    #expect(await status("wrong", from: "10.0.0.2") == 401)
    // Right tokens are not counted, however many come.
    for _ in 0..<100 { #expect(await status(right, from: "10.0.0.2") == 200) }
    world.advance(by: .seconds(60))
    #expect(await status(right, from: "10.0.0.1") == 200)
  }

  @Test("An account uploads no more bytes of files than its share; others are not held up")
  func uploads() async throws {
    let folder =
      FileManager.default.temporaryDirectory.path
      + "/cloudsync-rate-\(ProcessInfo.processInfo.processIdentifier)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var limits = ServiceLimits()
    limits.uploadedBytes = ServiceRate(burst: 1_000, perSecond: 10)
    let world = ServiceWorld(limits: limits, assetFolder: folder)
    func upload(
      _ count: Int,
      _ byte: UInt8,
      _ account: AccountIdentity
    ) async throws -> HTTPResponse {
      let body = #"{"tokens":[{"fieldName":"f"}]}"#
      let answer = await world.post("assets/upload", body, as: "mac", account).text
      let start = try #require(answer.firstRange(of: "/assets/1/")).lowerBound
      let target = String(answer[start...].prefix { $0 != "\"" })
      let bytes = [UInt8](repeating: byte, count: count)
      return await world.service.respond(
        to: HTTPRequest(method: "POST", target: target, body: bytes)
      )
    }
    for account in [ServiceWorld.alice, ServiceWorld.bob] { _ = try world.client("mac", account) }
    #expect(try await upload(600, 1, ServiceWorld.alice).status == 200)
    #expect(try await upload(600, 2, ServiceWorld.alice).status == 200)
    let refused = try await upload(600, 3, ServiceWorld.alice)
    #expect(refused.status == 429 && refused.text.contains("retryAfter"))
    #expect(try await upload(600, 3, ServiceWorld.bob).status == 200)
    world.advance(by: .seconds(60))
    #expect(try await upload(600, 3, ServiceWorld.alice).status == 200)
  }

  @Test("Any rate is one, and very many senders are remembered no longer than they have to be")
  func extremes() async throws {
    for rate in [
      ServiceRate(burst: .max, perSecond: 1), ServiceRate(burst: -1, perSecond: -1),
      ServiceRate(burst: 1, perSecond: .max),
    ] {
      let world = try world { $0.requests = rate }
      #expect(await list(world, "phone").status == 200)
    }
    let world = try world { $0.wrongTokens = ServiceRate(burst: 1, perSecond: 1) }
    for number in 0..<20_000 {
      let request = HTTPRequest(method: "GET", target: "/")
      let status = await world.service.respond(to: request, from: "host\(number)").status
      #expect(status == 401)
    }
  }
}

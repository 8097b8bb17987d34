import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncLoopback
import CloudSyncService
import CloudSyncWebServices
import Foundation
import Testing

@Suite("URLSessionTransport")
struct URLSessionTransportTests {
  private let transport = URLSessionTransport()

  private func failure(
    _ origin: String,
    deadline: Timestamp = .distantFuture
  ) async -> HTTPTransportError? {
    do throws(HTTPTransportError) {
      let request = HTTPRequest(method: "POST", target: "/x", body: [1])
      _ = try await transport.send(request, to: origin, deadline: deadline)
      return nil
    } catch { return error }
  }

  @Test("A handler works over a socket: zone, saves, conflict, pages, a file")
  func overSocket() async throws {
    let folder =
      "\(FileManager.default.temporaryDirectory.path)/cloudsync-socket-\(ProcessInfo.processInfo.processIdentifier)"
    try? FileManager.default.removeItem(atPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let world = ServiceWorld(assetFolder: folder + "/cloud") { $0.pageSize = 2 }
    let server = try LoopbackServer(responder: { [service = world.service] in
      service.respond(to: $0, completion: $1)
    })
    let token = ServiceWorld.token("phone")
    world.tokens.add(
      token: token,
      access: ServiceAccess(account: ServiceWorld.alice, device: "phone")
    )
    let handler = WebServicesOperationHandler(
      client: WebServicesClient(
        address: try WebServicesAddress(server.origin),
        authorization: .bearer(Secret(token)),
        transport: transport
      ),
      zoneID: ServiceWorld.zoneID,
      assets: AssetCache(folder: folder + "/phone")
    )
    #expect(try await handler.createZone().get())
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try Data(bytes).write(to: URL(fileURLWithPath: folder + "/file"))
    let asset = Asset(
      sha256: Data(SHA256.digest(of: bytes)),
      byteCount: 100_000,
      location: folder + "/file"
    )
    let records = [
      note("a", ["text": "é \u{0} \"", "file": .asset(asset)]), note("b"), note("c", ["size": 0.1]),
    ]
    #expect(try await handler.modify(records, token: 1).get().savedRecords.count == 3)
    #expect(await handler.modify([note("b")], token: 2).itemCodes == ["b": .serverRecordChanged])
    let first = try await handler.fetch().get()
    #expect(first.changedRecords.map(\.recordID.name) == ["a", "b"] && first.hasMore)
    guard case .asset(let file)? = first.changedRecords[0]["file"] else {
      Issue.record("there is no file")
      return
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: file.location)) == Data(bytes))
    let rest = try await handler.fetch(FetchOperation(changeToken: first.changeToken)).get()
    #expect(rest.changedRecords.map { $0["size"] } == [0.1])
  }

  @Test("Redirects are not followed, and nothing of the request goes elsewhere")
  func redirects() async throws {
    let visits = Locked(0)
    let other = try LoopbackServer { _ in
      visits.withLock { $0 += 1 }
      return HTTPResponse(status: 200)
    }
    let server = try LoopbackServer { _ in
      HTTPResponse(status: 307, headers: ["Location": "\(other.origin)/y"])
    }
    let response = try await transport.send(
      HTTPRequest(method: "POST", target: "/x", headers: ["Authorization": "Bearer t"], body: [1]),
      to: server.origin,
      deadline: .distantFuture
    )
    #expect(response.status == 307)
    #expect(visits.withLock { $0 } == 0)
  }

  @Test(
    "46. A captive portal and a redirect to another host: 34 or 4, and no token goes there",
    arguments: [200, 301, 302, 303, 307, 308]
  )
  func portals(status: Int) async throws {
    let visits = Locked(0)
    let other = try LoopbackServer { _ in
      visits.withLock { $0 += 1 }
      return HTTPResponse(status: 200)
    }
    let tokens = Locked<[String?]>([])
    let portal = try LoopbackServer { [place = "\(other.origin)/y"] request in
      tokens.withLock { $0.append(request.headers["Authorization"]) }
      return status == 200
        ? HTTPResponse(status: 200, "<html>Sign in</html>")
        : HTTPResponse(status: status, headers: ["Location": place])
    }
    let handler = WebServicesOperationHandler(
      client: WebServicesClient(
        address: try WebServicesAddress(portal.origin),
        authorization: .bearer("secret"),
        transport: transport
      ),
      zoneID: ServiceWorld.zoneID
    )
    #expect(await handler.modify([note("a")], token: 1).error?.code == .serverResponseLost)
    #expect(await handler.fetch().error?.code == .networkFailure)
    // The portal was asked, each time, and nobody else.
    #expect(tokens.withLock { $0 } == ["Bearer secret", "Bearer secret"])
    #expect(visits.withLock { $0 } == 0)
    // A visit would have been seen.
    _ = try await transport.send(
      HTTPRequest(method: "GET", target: "/y"),
      to: other.origin,
      deadline: .distantFuture
    )
    #expect(visits.withLock { $0 } == 1)
  }

  @Test(
    "No connection and a passed deadline mean that nothing was sent; a broken one that it may be"
  )
  func failures() async throws {
    let closed = try LoopbackServer { _ in HTTPResponse(status: 200) }.origin
    #expect(await failure(closed)?.progress == .notSent)
    let world = ServiceWorld()
    let server = try LoopbackServer { _ in HTTPResponse(status: 200) }
    #expect(await failure(server.origin, deadline: world.now)?.progress == .notSent)
  }

  @Test("Headers of the response come, cookies are not sent back")
  func headers() async throws {
    let cookies = Locked<[String?]>([])
    let server = try LoopbackServer { request in
      cookies.withLock { $0.append(request.headers["Cookie"]) }
      return HTTPResponse(
        status: 429,
        headers: ["Set-Cookie": "a=b; Path=/", "Retry-After": "7"],
        body: [0x7b, 0x7d]
      )
    }
    for _ in 0..<2 {
      let request = HTTPRequest(method: "GET", target: "/x?q=%2B")
      let response = try await transport.send(
        request,
        to: server.origin,
        deadline: .distantFuture
      )
      #expect(response.headers["retry-after"] == "7" && response.body == [0x7b, 0x7d])
    }
    #expect(cookies.withLock { $0 } == [nil, nil])
  }
}

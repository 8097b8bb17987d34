import CloudSyncService
import HTTPTypes
import Hummingbird
import NIOCore

#if canImport(Glibc)
import Glibc
#endif

/// Answers whoever looks after the server: whether it lives, whether it can work, and what it has counted.
struct AdminResponder: HTTPResponder {
  typealias Context = ConnectionContext

  let metrics: ServerMetrics
  let health: StoreHealth
  let pool: StorePool
  let service: CloudService

  func respond(to request: Request, context: ConnectionContext) async throws -> Response {
    guard request.method == .get else { return Self.text("only GET\n", status: .methodNotAllowed) }
    switch request.uri.path {
    case "/live": return Self.text("live\n")
    case "/ready":
      let problem = await pool.run(orElse: "too many requests wait for the store") { completion in
        completion(health.problem())
      }
      return problem.map { Self.text("\($0)\n", status: .serviceUnavailable) }
        ?? Self.text("ready\n")
    case "/metrics":
      return Self.text(metrics.text(gauges: gauges), type: "text/plain; version=0.0.4")
    default: return Self.text("there are /live, /ready and /metrics\n", status: .notFound)
    }
  }

  private var gauges: [(name: String, help: String, value: Int)] {
    [
      ("cloudsync_connections", "Open connections.", metrics.openConnections),
      ("cloudsync_polls", "Devices that wait for a change.", service.waitingPolls),
      ("cloudsync_store_requests", "Requests that wait for the store, or have it.", pool.load),
      ("process_resident_memory_bytes", "Memory.", Self.residentBytes()),
    ]
  }

  /// The memory that the process has in use; 0 where the system does not tell it so.
  static func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    let text = String(
      decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
      as: UTF8.self
    )
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  private static func text(
    _ text: String,
    status: HTTPResponse.Status = .ok,
    type: String = "text/plain; charset=utf-8"
  ) -> Response {
    Response(
      status: status,
      headers: [.contentType: type],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text))
    )
  }
}

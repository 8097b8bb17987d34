import CPostgres

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#endif

/// One connection to PostgreSQL, in pipeline mode: several statements make one round trip.
///
/// It is `@unchecked Sendable` because one thread at a time uses it: the pool lends it to one.
final class PostgresConnection: @unchecked Sendable {
  /// How long nothing may come while a response is due: longer than any statement may take.
  private static let patience: Int32 = 30_000

  private let handle: OpaquePointer
  /// Round trips whose answers nobody has read yet, each with its number of statements.
  private var unread: [Int] = []
  /// Whether it can be used no more.
  private(set) var isBroken = false
  /// How many round trips there were, for tests and figures.
  private(set) var roundTrips = 0
  /// What the locks of this store are told apart by from those of others in the same database.
  var namespace: Int32 = 0
  /// Tells the database from one that was restored from a backup in its place.
  var origin: Int64 = 0

  /// Connects.
  ///
  /// - Parameter conninfo: A connection string or an address, as libpq reads it.
  /// - Throws: Why there is no connection.
  init(conninfo: String) throws(PostgresFailure) {
    // Those before the connection string are defaults, which it may replace.
    let settings: [(String, String)] = [
      ("connect_timeout", "5"), ("tcp_user_timeout", "20000"), ("keepalives_idle", "30"),
      ("keepalives_interval", "10"), ("keepalives_count", "3"),
      ("fallback_application_name", "cloudsync-server"), ("dbname", conninfo),
    ]
    guard let handle = Self.connect(settings: settings) else {
      throw .cannotConnect("there is no memory")
    }
    self.handle = handle
    guard PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0,
      PQenterPipelineMode(handle) == 1
    else {
      isBroken = true
      throw .cannotConnect(message)
    }
  }

  deinit { PQfinish(handle) }

  private static func connect(settings: [(String, String)]) -> OpaquePointer? {
    let texts = settings.flatMap { [strdup($0.0), strdup($0.1)] }
    defer { for text in texts { free(text) } }
    let keywords = stride(from: 0, to: texts.count, by: 2).map { UnsafePointer(texts[$0]) } + [nil]
    let values = stride(from: 1, to: texts.count, by: 2).map { UnsafePointer(texts[$0]) } + [nil]
    return PQconnectdbParams(keywords, values, 1)
  }

  /// The server's version, as in 150018.
  var serverVersion: Int { Int(PQserverVersion(handle)) }

  /// The number of the process that serves the connection.
  var backend: Int32 { PQbackendPID(handle) }

  /// The connection's socket, to wait for what comes unasked.
  var descriptor: Int32 { PQsocket(handle) }

  /// What the library says is wrong, in one line.
  private var message: String {
    String(cString: PQerrorMessage(handle)).split(whereSeparator: \.isNewline)
      .joined(separator: " ")
  }

  // MARK: Statements

  /// Carries out statements in one round trip; once one fails, those after it are left out.
  func run(_ calls: [PostgresCall]) throws(PostgresFailure) -> [PostgresRows] {
    roundTrips += 1
    try send(calls)
    try receiveEarlier()
    return try receive()
  }

  /// Sends statements whose answers are read before those of the next ones.
  func runLater(_ calls: [PostgresCall]) throws(PostgresFailure) { try send(calls) }

  /// Makes statements known by their names.
  func prepare(_ statements: [PostgresStatement]) throws(PostgresFailure) {
    roundTrips += 1
    for statement in statements {
      let isSent = statement.name.withPointer { name in
        statement.text.withPointer { PQsendPrepare(handle, name, $0, 0, nil) }
      }
      guard isSent == 1 else { throw broken() }
    }
    try finishSending(count: statements.count)
    try receiveEarlier()
    _ = try receive()
  }

  private func send(_ calls: [PostgresCall]) throws(PostgresFailure) {
    for call in calls { guard queue(call) else { throw broken() } }
    try finishSending(count: calls.count)
  }

  private func finishSending(count: Int) throws(PostgresFailure) {
    guard PQpipelineSync(handle) == 1 else { throw broken() }
    unread.append(count)
    while true {
      switch PQflush(handle) {
      case 0: return
      case 1:
        // What comes meanwhile is read, or both sides would wait for each other.
        if try wait(for: Int16(POLLIN | POLLOUT)) & Int16(POLLIN) != 0 { try consume() }
      default: throw broken()
      }
    }
  }

  private func queue(_ call: PostgresCall) -> Bool {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(call.parameters.reduce(1) { $0 + $1.bytes.count })
    var offsets: [Int] = []
    for parameter in call.parameters {
      offsets.append(bytes.count)
      bytes += parameter.bytes
    }
    // An empty value has an address too: none would be a null.
    bytes.append(0)
    let lengths = call.parameters.map { Int32(clamping: $0.bytes.count) }
    let formats = call.parameters.map { _ in Int32(1) }
    let count = Int32(call.parameters.count)
    return bytes.withUnsafeBytes { buffer in
      let values = offsets.map { offset in
        buffer.baseAddress.map { UnsafePointer(($0 + offset).assumingMemoryBound(to: CChar.self)) }
      }
      let isSent =
        if call.statement.name.utf8CodeUnitCount == 0 {
          call.statement.text.withPointer {
            PQsendQueryParams(handle, $0, count, nil, values, lengths, formats, 1)
          }
        } else {
          call.statement.name.withPointer {
            PQsendQueryPrepared(handle, $0, count, values, lengths, formats, 1)
          }
        }
      return isSent == 1
    }
  }

  // MARK: Answers

  /// Reads the responses of one round trip.
  private func receive() throws(PostgresFailure) -> [PostgresRows] {
    let count = unread.removeFirst()
    var rows: [PostgresRows] = []
    var failure: PostgresFailure?
    for _ in 0..<count {
      // Each statement has one response, and then none.
      while let result = try next() {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK: rows.append(PostgresRows(result))
        case PGRES_PIPELINE_ABORTED: PQclear(result)
        default:
          let found = Self.failure(of: result)
          PQclear(result)
          if PQstatus(handle) != CONNECTION_OK { throw broken(found) }
          failure = failure ?? found
        }
      }
    }
    guard let end = try next() else { throw broken() }
    defer { PQclear(end) }
    guard PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw broken() }
    if let failure { throw failure }
    return rows
  }

  /// Reads the responses that nobody has waited for: the ends of transactions that only read.
  private func receiveEarlier() throws(PostgresFailure) {
    while unread.count > 1 {
      do throws(PostgresFailure) { _ = try receive() } catch { throw broken(error) }
    }
  }

  private func next() throws(PostgresFailure) -> OpaquePointer? {
    while PQisBusy(handle) == 1 {
      _ = try wait(for: Int16(POLLIN))
      try consume()
    }
    return PQgetResult(handle)
  }

  private static func failure(of result: OpaquePointer) -> PostgresFailure {
    let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
    let text = PQresultErrorField(result, Int32(UInt8(ascii: "M"))).map { String(cString: $0) }
    return .refused(state: state ?? "", message: text ?? "the server gave no reason")
  }

  private func consume() throws(PostgresFailure) {
    guard PQconsumeInput(handle) == 1 else { throw broken() }
  }

  /// Waits until the socket can be read or written, and tells which.
  private func wait(for events: Int16) throws(PostgresFailure) -> Int16 {
    var place = pollfd(fd: descriptor, events: events, revents: 0)
    while true {
      let count = poll(&place, 1, Self.patience)
      if count > 0 { return place.revents }
      if count < 0, errno == EINTR { continue }
      throw broken(count == 0 ? .lost("no response came for 30 s") : nil)
    }
  }

  /// Gives the connection up.
  private func broken(_ reason: PostgresFailure? = nil) -> PostgresFailure {
    isBroken = true
    guard case .refused(let state, let text) = reason else { return reason ?? .lost(message) }
    return .lost("\(text), PostgreSQL \(state)")
  }

  // MARK: Notices

  /// What others have told on the channels that the connection listens to, and by which backend.
  func notices() throws(PostgresFailure) -> [(backend: Int32, text: String)] {
    try consume()
    var notices: [(backend: Int32, text: String)] = []
    while let notice = PQnotifies(handle) {
      notices.append((notice.pointee.be_pid, String(cString: notice.pointee.extra)))
      PQfreemem(notice)
    }
    return notices
  }
}

extension StaticString {
  /// Calls a function with the text as C reads it.
  fileprivate func withPointer<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
    utf8Start.withMemoryRebound(to: CChar.self, capacity: utf8CodeUnitCount + 1, body)
  }
}

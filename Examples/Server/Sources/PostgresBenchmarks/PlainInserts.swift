import CPostgres
import PostgresTestServer

/// What a database does for one record without a store: a lock, a row and a commit, in three prepared statements of
/// one transaction.
///
/// It is `@unchecked Sendable` because each connection is used by the thread of its number only.
final class PlainInserts: @unchecked Sendable {
  private let connections: [OpaquePointer?]
  private let values: [UInt8] = Array(repeating: 7, count: 120)

  init(conninfo: String, count: Int) throws {
    let statements = [
      ("begin", "BEGIN"), ("lock", "SELECT pg_advisory_xact_lock($1::bigint)"),
      ("insert", "INSERT INTO plain VALUES ($1::bigint, $2::bigint, $3)"), ("end", "COMMIT"),
    ]
    connections = (0..<count).map { _ in PQconnectdb(conninfo) }
    PQclear(
      PQexec(
        connections[0],
        "CREATE TABLE plain(a bigint, b bigint, body bytea, PRIMARY KEY (a, b))"
      )
    )
    for connection in connections {
      guard PQstatus(connection) == CONNECTION_OK else {
        throw PostgresServerError(description: String(cString: PQerrorMessage(connection)))
      }
      for (name, text) in statements { PQclear(PQprepare(connection, name, text, 0, nil)) }
    }
  }

  deinit { for connection in connections { PQfinish(connection) } }

  /// Inserts a row that nobody else has.
  func insert(writer: Int, number: Int) throws {
    try run("begin", on: connections[writer])
    try run("lock", [Int64(writer)], on: connections[writer])
    try run("insert", [Int64(writer), Int64(number)], values, on: connections[writer])
    try run("end", on: connections[writer])
  }

  private func run(
    _ name: String,
    _ numbers: [Int64] = [],
    _ body: [UInt8]? = nil,
    on connection: OpaquePointer?
  ) throws {
    let parameters =
      numbers.map { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
      + (body.map { [$0] } ?? [])
    var offsets: [Int] = []
    var bytes: [UInt8] = []
    for parameter in parameters {
      offsets.append(bytes.count)
      bytes += parameter
    }
    bytes.append(0)
    let lengths = parameters.map { Int32($0.count) }
    let formats = parameters.map { _ in Int32(1) }
    let status = bytes.withUnsafeBytes { buffer in
      let values = offsets.map { offset in
        buffer.baseAddress.map { UnsafePointer(($0 + offset).assumingMemoryBound(to: CChar.self)) }
      }
      let result = PQexecPrepared(
        connection,
        name,
        Int32(values.count),
        values,
        lengths,
        formats,
        1
      )
      defer { PQclear(result) }
      return PQresultStatus(result)
    }
    guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
      throw PostgresServerError(description: String(cString: PQerrorMessage(connection)))
    }
  }
}

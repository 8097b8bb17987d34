import CPostgres

/// What one statement answered; values are in binary.
final class PostgresRows {
  private let result: OpaquePointer

  /// Takes what the library gave.
  init(_ result: OpaquePointer) { self.result = result }

  deinit { PQclear(result) }

  /// How many rows there are.
  var count: Int { Int(PQntuples(result)) }

  /// How many rows a statement inserted, changed or deleted.
  var changedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

  /// What was done, in one word: `COMMIT` may be answered with `ROLLBACK`.
  var command: String { String(cString: PQcmdStatus(result)) }

  /// The bytes of a value; none where it is null.
  func bytes(row: Int, column: Int) -> [UInt8] {
    guard let start = PQgetvalue(result, Int32(row), Int32(column)) else { return [] }
    let length = Int(PQgetlength(result, Int32(row), Int32(column)))
    return Array(UnsafeRawBufferPointer(start: start, count: length))
  }

  /// The text of a value; nil where the bytes are none.
  func text(row: Int, column: Int) -> String? {
    String(validating: bytes(row: row, column: column), as: UTF8.self)
  }

  /// A whole number of 2, 4 or 8 bytes.
  func integer(row: Int, column: Int) -> Int64 {
    let bytes = bytes(row: row, column: column)
    guard let first = bytes.first else { return 0 }
    return bytes.reduce(Int64(first) >= 128 ? -1 : 0) { $0 << 8 | Int64($1) }
  }

  /// Whether a value is null.
  func isNull(row: Int, column: Int) -> Bool {
    PQgetisnull(result, Int32(row), Int32(column)) == 1
  }
}

/// A parameter of a statement, in PostgreSQL's binary form.
struct PostgresValue: Sendable {
  let bytes: [UInt8]

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// A `bytea`, or a `text`.
  static func bytes(_ bytes: [UInt8]) -> PostgresValue { PostgresValue(bytes) }

  /// The bytes of a text: all of them are kept, NUL too, where the parameter is a `bytea`.
  static func text(_ text: String) -> PostgresValue { PostgresValue(Array(text.utf8)) }

  /// A `bigint`.
  static func integer(_ value: Int64) -> PostgresValue {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: value)
    return PostgresValue(bytes)
  }

  /// An `integer`.
  static func smaller(_ value: Int32) -> PostgresValue {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: value)
    return PostgresValue(bytes)
  }

  /// A `bigint[]`.
  static func integers(_ values: [Int64]) -> PostgresValue {
    var bytes = header(count: values.count, type: 20, reserving: values.count * 12)
    for value in values {
      bytes.append(bigEndian: Int32(8))
      bytes.append(bigEndian: value)
    }
    return PostgresValue(bytes)
  }

  /// A `bytea[]`.
  static func list(_ values: [[UInt8]]) -> PostgresValue {
    let size = values.reduce(0) { $0 + $1.count + 4 }
    var bytes = header(count: values.count, type: 17, reserving: size)
    for value in values {
      bytes.append(bigEndian: Int32(clamping: value.count))
      bytes += value
    }
    return PostgresValue(bytes)
  }

  /// Dimensions, no nulls, the type of elements, and how many there are, counted from 1.
  private static func header(count: Int, type: Int32, reserving size: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size + 20)
    bytes.append(bigEndian: Int32(count == 0 ? 0 : 1))
    bytes.append(bigEndian: Int32(0))
    bytes.append(bigEndian: type)
    if count == 0 { return bytes }
    bytes.append(bigEndian: Int32(clamping: count))
    bytes.append(bigEndian: Int32(1))
    return bytes
  }
}

extension [UInt8] {
  fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}

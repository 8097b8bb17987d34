import CloudSyncCore
@testable import CloudSyncEventLog

/// The coded form of single values, as the tests of the format want it.
enum LineForm {
  static func write(_ value: some CodedValue, _ redactor: Redactor = .none) -> [UInt8] {
    var writer = LineWriter(redactor: redactor.active)
    value.write(to: &writer)
    return writer.bytes
  }

  static func text(_ value: some CodedValue) -> String {
    String(decoding: write(value), as: UTF8.self)
  }

  static func read<T: CodedValue>(_: T.Type = T.self, _ bytes: [UInt8]) throws(CodedError) -> T {
    let result = bytes.withUnsafeBufferPointer { bytes -> Result<T, CodedError> in
      do throws(CodedError) {
        var reader = LineReader(bytes)
        let value = try T(from: &reader)
        guard reader.isAtEnd() else { throw reader.failure("more follows") }
        return .success(value)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  static func read<T: CodedValue>(_: T.Type = T.self, _ text: String) throws(CodedError) -> T {
    try read(T.self, Array(text.utf8))
  }

  /// The lines of a log, without their line feeds.
  static func lines(_ log: [UInt8]) -> [[UInt8]] {
    log.split(separator: UInt8(ascii: "\n")).map(Array.init)
  }

  /// A log of lines.
  static func log(_ lines: [[UInt8]]) -> [UInt8] {
    lines.flatMap { $0 + [UInt8(ascii: "\n")] }
  }

  /// The same JSON with white space wherever it may stand.
  static func spaced(_ line: [UInt8]) -> [UInt8] {
    var spaced: [UInt8] = []
    var isText = false
    var isEscaped = false
    for byte in line {
      let isMark = !isText && "{}[],:".utf8.contains(byte)
      spaced += isMark ? [0x20, byte, 0x09, 0x0d, 0x20] : [byte]
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        isText.toggle()
      } else {
        isEscaped = isText && byte == UInt8(ascii: "\\")
      }
    }
    return spaced
  }
}

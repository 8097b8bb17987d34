#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// JSON for scripts: keys in order, one value a line or spread over several.
enum JSONText {
  static func line(for value: some Encodable) throws -> String {
    try text(value, formatting: [.sortedKeys, .withoutEscapingSlashes])
  }

  static func block(for value: some Encodable) throws -> String {
    try text(value, formatting: [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted])
  }

  private static func text(
    _ value: some Encodable,
    formatting: JSONEncoder.OutputFormatting
  ) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = formatting
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}

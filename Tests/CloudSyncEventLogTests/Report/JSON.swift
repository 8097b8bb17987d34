import Foundation

/// JSON, as far as a test looks into it.
indirect enum JSON: Equatable {
  case null
  case number(Double)
  case text(String)
  case array([JSON])
  case object([String: JSON])

  /// Parses a block; nil if there is none, or it is no JSON.
  init?(_ block: PageBytes?) {
    // JSONDecoder would throw an error for each type that it tries, and a test pays for each.
    guard let block, let value = try? JSONSerialization.jsonObject(with: Data(block.bytes)) else {
      return nil
    }
    self.init(value)
  }

  private init(_ value: Any) {
    switch value {
    case let list as [Any]: self = .array(list.map(JSON.init))
    case let fields as [String: Any]: self = .object(fields.mapValues(JSON.init))
    case let text as String: self = .text(text)
    case let number as NSNumber: self = .number(number.doubleValue)
    default: self = .null
    }
  }

  subscript(key: String) -> JSON {
    if case .object(let fields) = self { fields[key] ?? .null } else { .null }
  }
  var list: [JSON] { if case .array(let list) = self { list } else { [] } }
  var int: Int? { if case .number(let value) = self { Int(value) } else { nil } }
  var string: String? { if case .text(let text) = self { text } else { nil } }
}

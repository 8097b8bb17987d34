import Foundation
import Testing

@testable import CloudSyncCore
@testable import CloudSyncRecordCoding

@Suite("Options and errors of RecordEncoder and RecordDecoder")
struct RecordCodingErrorTests {
  static let id = CodingModels.id

  struct Note: Codable, Equatable {
    var titleText = "a"
    var lastSeenURL: String?
    var count: Int? = 3
  }

  private func encode(
    _ value: some Encodable,
    _ encoder: RecordEncoder = RecordEncoder()
  ) throws -> Record {
    try encoder.encode(value, recordType: "T", recordID: Self.id)
  }

  private func record(_ fields: [String: FieldValue]) -> Record {
    Record(recordType: "T", recordID: Self.id, fields: fields)
  }

  private func failure<T: Decodable>(
    _ type: T.Type,
    _ fields: [String: FieldValue],
    _ decoder: RecordDecoder = RecordDecoder()
  ) -> String {
    do {
      _ = try decoder.decode(type, from: record(fields))
      return "none"
    } catch let error as DecodingError {
      switch error {
      case .keyNotFound(let key, let context):
        return "missing \(path(context.codingPath + [key]))"
      case .typeMismatch(_, let context):
        return "\(path(context.codingPath)): \(context.debugDescription)"
      case .valueNotFound(_, let context): return "null \(path(context.codingPath))"
      case .dataCorrupted(let context):
        return "corrupt \(path(context.codingPath)): \(context.debugDescription)"
      @unknown default: return "unknown"
      }
    } catch {
      return "\(error)"
    }
  }

  @Test("Nil removes the field or leaves it out")
  func nilEncoding() throws {
    let removing = try encode(Note())
    let omitting = try encode(Note(), RecordEncoder(nilEncoding: .omit))

    #expect(removing.fields.map(\.name) == ["count", "lastSeenURL", "titleText"])
    #expect(removing["lastSeenURL"] == .some(.null))
    #expect(omitting.fields.map(\.name) == ["count", "titleText"])
    #expect(try RecordDecoder().decode(Note.self, from: removing) == Note())
    #expect(try RecordDecoder().decode(Note.self, from: omitting) == Note())
  }

  @Test("Keys are converted both ways, and encrypted keys are names of fields")
  func keys() throws {
    let encoder = RecordEncoder(
      keyEncoding: .convertToSnakeCase,
      encryptedKeys: ["title_text", "count", "absent"]
    )
    let record = try encode(Note(), encoder)

    #expect(record.fields.map(\.name) == ["count", "last_seen_url", "title_text"])
    #expect(record.encryptedKeys == ["count", "title_text"])
    let decoder = RecordDecoder(keyEncoding: .convertToSnakeCase)
    #expect(try decoder.decode(Note.self, from: record) == Note())
    let keys = ["userName": 1, "a1B": 2, "plain": 3]
    let dictionary = try encode(keys, RecordEncoder(keyEncoding: .convertToSnakeCase))
    #expect(dictionary.fields.map(\.name) == ["a1_b", "plain", "user_name"])
    #expect(try decoder.decode([String: Int].self, from: dictionary) == keys)
    let inside = try encode(["x": ["userName": 1]], encoder)
    #expect(inside["x"] == #"{"userName":1}"#)
  }

  @Test(
    "Snake case parts words at capitals",
    arguments: [
      ("title", "title"), ("lastSeen", "last_seen"), ("myURLPath", "my_url_path"),
      ("URL", "url"), ("a1B", "a1_b"), ("already_There", "already_there"), ("éA", "é_a"),
    ]
  )
  func snakeCase(key: String, name: String) {
    #expect(RecordEncoder.KeyEncoding.convertToSnakeCase.fieldName(for: key) == name)
  }

  @Test("What is no record is refused with its path")
  func encodingErrors() throws {
    func failure(_ value: some Encodable, _ encoder: RecordEncoder = RecordEncoder()) -> String {
      do {
        _ = try encode(value, encoder)
        return "none"
      } catch let error as EncodingError {
        return path(error)
      } catch {
        return "\(error)"
      }
    }
    #expect(failure(5) == "")
    #expect(failure([1]) == "")
    #expect(failure(["_hidden": 1]) == "_hidden")
    #expect(failure(["é": 1]) == "é")
    #expect(failure(["a b": 1]) == "a b")
    #expect(
      failure(["aB": 1, "a_b": 2], RecordEncoder(keyEncoding: .convertToSnakeCase)).first == "a"
    )
    #expect(failure(["x": ["y": Decimal.nan]]) == "x.y")
    #expect(failure(["x": UInt64.max]) == "x")
    #expect(failure(["x": ["y": UInt64.max]]) == "none")
    #expect(failure(["x": [[1]]], RecordEncoder(maximumNesting: 2)) == "none")
    #expect(failure(["x": [[1]]], RecordEncoder(maximumNesting: 1)) == "x.Index 0")
    #expect(failure(["x": ["a": [[Int]]()]], RecordEncoder(maximumNesting: 1)) == "x.a")
    #expect(failure(["x": [[[[[[[[[1]]]]]]]]]]).hasPrefix("x.Index 0"))
  }

  final class Loop: Codable {
    var next: Loop?
  }

  @Test("What refers to itself ends in an error")
  func cycles() {
    let loop = Loop()
    loop.next = loop
    #expect(throws: EncodingError.self) { try encode(loop) }
    loop.next = nil
  }

  @Test("What is missing or of another kind is told with its path and what was found")
  func decodingErrors() {
    let point = #"{"a":{"b":[1,null,"x"]}}"#
    typealias Deep = [String: [String: [String: [Int]]]]

    #expect(failure(Note.self, [:]) == "missing titleText")
    #expect(failure(Note.self, ["titleText": .null]) == "missing titleText")
    #expect(
      failure(Note.self, ["titleText": 1])
        == "titleText: Expected String, found a field of kind int64."
    )
    #expect(
      failure(Note.self, ["titleText": "", "count": 1.0])
        == "count: Expected Int, found a field of kind double."
    )
    #expect(failure([String: Int8].self, ["a": 300]) == "corrupt a: 300 does not fit into Int8.")
    #expect(failure([String: UInt].self, ["a": -1]) == "corrupt a: -1 does not fit into UInt.")
    #expect(failure([String: Bool].self, ["a": 2]) == "corrupt a: 2 is neither 0 nor 1.")
    #expect(failure([String: UUID].self, ["a": "x"]) == "corrupt a: The text is no UUID.")
    #expect(failure([String: Decimal].self, ["a": "1x"]) == "corrupt a: The text is no Decimal.")
    #expect(failure([String: CodingModels.Mood].self, ["a": "x"]).hasPrefix("corrupt a: "))
    #expect(failure([String: [Int]].self, ["a": [1, "x"]]).hasPrefix("a.Index 1: Expected Int"))
    #expect(failure([String: [Int]].self, ["a": [1, .null]]) == "null a.Index 1")
    #expect(failure([String: [Int]].self, ["a": "[1]"]).hasPrefix("a: Expected Array<Any>"))
    #expect(failure(Deep.self, ["p": .string(point)]) == "null p.a.b.Index 1")
    #expect(failure([String: Note].self, ["p": "{}"]) == "missing p.titleText")
    #expect(failure([String: Note].self, ["p": "[]"]).hasPrefix("p: Expected"))
    #expect(failure([String: Note].self, ["p": "{"]).hasPrefix("corrupt p: "))
    #expect(failure(Int.self, ["p": 1]) == ": Expected Int, found a record.")
    let shallow = RecordDecoder(maximumNesting: 2)
    #expect(failure(Deep.self, ["p": .string(point)], shallow).hasPrefix("corrupt p.a.b"))
  }

  @Test("A JSON text of any depth ends in an error, not in a crash")
  func deepText() {
    let text = String(repeating: #"{"a":"#, count: 20_000)
    #expect(failure([String: Loop].self, ["p": .string(text)]).hasPrefix("corrupt p"))
    let decoder = RecordDecoder(maximumNesting: .max)
    let closed = String(repeating: "[", count: 150) + String(repeating: "]", count: 150)
    #expect(failure([String: [Date: Int]].self, ["p": .string(closed)], decoder) != "none")
  }

  @Test("Whole numbers are read as doubles where they are exact")
  func exactNumbers() throws {
    let fields: [String: FieldValue] = ["a": .int64(1 << 53), "b": .int64(-3)]
    #expect(
      try RecordDecoder().decode([String: Double].self, from: record(fields))
        == ["a": 0x1p53, "b": -3]
    )
    let odd = (1 << 53) + 1
    #expect(failure([String: Double].self, ["a": .int64(Int64(odd))]).hasPrefix("corrupt a: "))
    #expect(failure([String: Float].self, ["a": .int64(16_777_217)]).hasPrefix("corrupt a: "))
    #expect(failure([String: Float].self, ["a": 1e300]).hasPrefix("corrupt a: "))
  }

  @Test("Numbers inside JSON keep their bits and digits")
  func numbersInJSON() throws {
    struct Numbers: Codable {
      var doubles: [String: [Double]]
      var decimals: [String: Decimal]
    }
    let doubles: [Double] = [
      -0.0, 0.1, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
      0x1p63, 0x1p64, -0x1p63, 1e22,
    ]
    let decimals = [
      "a": try #require(Decimal(string: "0.1")), "b": Decimal(UInt64.max) * 1000 + 1,
      "c": try #require(Decimal(string: "-1234567890.0987654321")),
    ]
    let record = try encode(Numbers(doubles: ["d": doubles], decimals: decimals))
    let decoded = try RecordDecoder().decode(Numbers.self, from: record)
    #expect(decoded.doubles["d"]?.map(\.bitPattern) == doubles.map(\.bitPattern))
    #expect(decoded.decimals == decimals)
    #expect(failure([String: [String: Int]].self, ["p": #"{"a":1.5}"#]).hasPrefix("corrupt p.a"))
    let nearInteger = FieldValue.string(#"{"a":426119671500648826.5}"#)
    #expect(failure([String: [String: Int]].self, ["p": nearInteger]).hasPrefix("corrupt p.a"))
  }

  @Test("Models see the user info")
  func userInfo() throws {
    struct Curious: Codable {
      static let key = CodingUserInfoKey(rawValue: "k")
      var seen: String
      init(seen: String) { self.seen = seen }
      init(from decoder: any Decoder) throws {
        seen = Self.key.flatMap { decoder.userInfo[$0] as? String } ?? "nothing"
      }
    }
    var decoder = RecordDecoder()
    decoder.userInfo[try #require(Curious.key)] = "told"
    #expect(try decoder.decode(Curious.self, from: record([:])).seen == "told")
  }
}

import CloudSyncCore
import CloudSyncService
import CloudSyncTestSupport
import CloudSyncWebServices
import Foundation
import Testing

/// What the article on the HTTP API shows is what the service does.
@Suite("The article on the HTTP API")
struct HTTPAPITests {
  private struct Example {
    var request: String
    var response: String
  }

  /// The requests of the article, each with the response that follows it.
  private static func examples() throws -> [Example] {
    let path = "Sources/CloudSyncService/Documentation.docc/HTTPAPI.md"
    let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: path)
    let text = try String(contentsOf: url, encoding: .utf8)
    return try text.components(separatedBy: "```http\n").dropFirst()
      .map { part throws in
        let blocks = part.components(separatedBy: "\n```")
        try #require(blocks.count > 2, "a request has a response behind it: \(part)")
        return Example(request: blocks[0], response: String(blocks[2].trimmingPrefix("json\n")))
      }
  }

  @Test("Every request of it gets the response that it shows")
  func examplesAreTrue() async throws {
    let folder = TestPath.unique("http-api")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = ServiceWorld(assetFolder: folder)
    _ = try world.client("phone")
    var address = ""
    let examples = try Self.examples()
    #expect(examples.count > 10)
    for example in examples {
      let parts = example.request.split(separator: "\n\n", maxSplits: 1)
      let lines = (parts.first ?? "").split(separator: "\n")
      let words = (lines.first ?? "").split(separator: " ").map(String.init)
      var headers: HTTPHeaders = ["Authorization": "Bearer \(ServiceWorld.token("phone"))"]
      for line in lines.dropFirst() {
        let header = line.split(separator: ":", maxSplits: 1)
        headers[String(header[0])] = String(header[1].trimmingPrefix(" "))
      }
      let place = words[1] == "tokens/create" ? "" : "private/"
      let response = await world.service.respond(
        to: HTTPRequest(
          method: words[0],
          target: words[1] == "(url)"
            ? address : "/database/1/cloudsync/production/\(place)\(words[1])",
          headers: headers,
          body: Array((parts.count > 1 ? parts[1] : "").utf8)
        )
      )
      try #require(!response.body.isEmpty, "\(example.request): \(response.status)")
      let found = try JSONSerialization.jsonObject(with: Data(response.body))
      let wanted = try JSONSerialization.jsonObject(with: Data(example.response.utf8))
      #expect(
        Self.isEqual(found, wanted),
        "\(words.joined(separator: " ")) \(response.status): \(response.text)"
      )
      if let tokens = (found as? [String: Any])?["tokens"] as? [[String: Any]] {
        address = tokens.first?["url"] as? String ?? ""
      }
    }
  }

  /// Whether a value is the wanted one, of which “…” stands for any text.
  private static func isEqual(_ found: Any, _ wanted: Any) -> Bool {
    if let wanted = wanted as? String, wanted == "…" { return (found as? String)?.isEmpty == false }
    if let found = found as? [String: Any], let wanted = wanted as? [String: Any] {
      return Set(found.keys) == Set(wanted.keys)
        && wanted.allSatisfy { key, value in found[key].map { isEqual($0, value) } == true }
    }
    if let found = found as? [Any], let wanted = wanted as? [Any] {
      return found.count == wanted.count && zip(found, wanted).allSatisfy { isEqual($0, $1) }
    }
    guard let found = found as? NSObject, let wanted = wanted as? NSObject else { return false }
    return found.isEqual(wanted)
  }
}

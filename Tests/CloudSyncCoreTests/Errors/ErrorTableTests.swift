import CloudSyncCore
import Foundation
import Testing

@Suite("ErrorTable")
struct ErrorTableTests {
  @Test("The table has a row for each of CloudKit's 37 codes, in order, and one for every other")
  func rows() {
    let codes = ErrorTable.rows.map(\.code)

    #expect(codes.map(\.rawValue) == Array(1...37) + [0])
    #expect(codes.last?.isUnknown == true)
    #expect(ErrorTable.markdown.split(separator: "\n").count == 2 + 38)
  }

  @Test("Every number is a code, and what nobody knows halts or is parked")
  func unknownCodes() {
    for number in [Int.min, -1, 0, 38, 999, 9_999, Int.max] {
      let code = SyncError.Code.unknown(number)
      for kind in OperationMode.allCases {
        #expect(ErrorTable.disposition(of: code, for: kind, in: .request) == .halt)
      }
      #expect(ErrorTable.disposition(of: code, for: .modify, in: .item) == .park)
    }
  }

  @Test("A handler that answers with one of the session's own endings loses nothing")
  func sessionCodes() {
    let own = (1_001...1_100).map(SyncError.Code.init(rawValue:)).filter(\.isSessionCode)

    #expect(own.count >= 15)
    for code in own where code != .timedOut {
      #expect(ErrorTable.disposition(of: code, for: .modify, in: .request) == .halt)
      #expect(ErrorTable.disposition(of: code, for: .modify, in: .item) == .park)
      #expect(ErrorTable.disposition(of: code, for: .fetch, in: .request) == .halt)
    }
  }

  @Test("A modification's request is treated as the design says")
  func modifications() {
    let expected: [(ErrorDisposition, [Int])] = [
      (.retryNetwork, [3, 4]), (.retryTransient, [17, 20]), (.retryService, [6, 7, 23]),
      (.resendUnchanged, [34]), (.split, [27]), (.waitForQuota, [25]), (.waitForAccount, [9, 36]),
      (.createZone, [26]), (.askAboutZone, [28]), (.unwrap, [2]), (.halt, [1, 5, 8, 18, 24, 32]),
      (
        .isolate, [10, 11, 12, 13, 14, 15, 16, 19, 21, 22, 29, 30, 31, 33, 35, 37]
      ),
    ]

    check(expected, for: .modify, in: .request)
  }

  @Test("An item of a modification is treated as the design says")
  func items() {
    let expected: [(ErrorDisposition, [Int])] = [
      (.retryNetwork, [3, 4]), (.retryTransient, [17, 20, 34]), (.retryService, [6, 7, 23]),
      (.split, [27]), (.waitForQuota, [25]), (.waitForAccount, [9, 36]), (.createZone, [26]),
      (.askAboutZone, [28]), (.resolveConflict, [14]), (.recordMissing, [11]), (.stay, [22]),
      (
        .park,
        [
          1, 2, 5, 8, 10, 12, 13, 15, 16, 18, 19, 21, 24, 29, 30, 31, 32, 33, 35, 37,
        ]
      ),
    ]

    check(expected, for: .modify, in: .item)
  }

  @Test("Fetches and creations never park, and end only where nothing can be waited for")
  func otherWork() {
    let waits: [(ErrorDisposition, [Int])] = [
      (.retryNetwork, [3, 4, 34]), (.retryTransient, [17, 20]), (.retryService, [6, 7, 23]),
      (.waitForAccount, [9, 36]), (.createZone, [26]), (.askAboutZone, [28]), (.unwrap, [2]),
    ]
    let halts = [1, 5, 8, 18, 24, 32]
    let known = Set(waits.flatMap(\.1) + halts)
    let rest = (1...37).filter { !known.contains($0) }

    check(
      waits + [(.halt, halts), (.startOver, [21]), (.failFetch, rest.filter { $0 != 21 })],
      for: .fetch,
      in: .request
    )
    check(waits + [(.halt, halts + rest)], for: .createZone, in: .request)
    check(
      waits + [(.halt, halts), (.giveUpSubscription, rest)],
      for: .createSubscription,
      in: .request
    )
  }

  @Test("The documentation shows the table that drives the code")
  func article() throws {
    let text = try Self.articleText()
    let begin = try #require(text.range(of: "<!-- table begins -->\n"))
    let end = try #require(text.range(of: "<!-- table ends -->"))

    #expect(String(text[begin.upperBound..<end.lowerBound]) == ErrorTable.markdown)
  }

  @Test("The documentation explains every disposition", arguments: ErrorDisposition.allCases)
  func explanation(disposition: ErrorDisposition) throws {
    #expect(try Self.articleText().contains("\n| \(disposition.rawValue) | "))
  }

  private static func articleText(from file: String = #filePath) throws -> String {
    let root = URL(fileURLWithPath: file)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let path = "Sources/CloudSyncCore/Documentation.docc/ErrorTable.md"
    return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  private func check(
    _ expected: [(ErrorDisposition, [Int])],
    for kind: OperationMode,
    in place: ErrorTable.Place
  ) {
    #expect(expected.flatMap(\.1).sorted() == Array(1...37))
    for (disposition, codes) in expected {
      for code in codes {
        let found = ErrorTable.disposition(of: .init(rawValue: code), for: kind, in: place)
        #expect(found == disposition, "\(SyncError.Code(rawValue: code)), \(kind), \(place)")
      }
    }
  }
}

import CloudSyncCore
import CloudSyncEventLog
import CloudSyncTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("LogReport")
struct LogReportTests {
  @Test("The page has a block for everything, and one script that its policy names")
  func hasItsParts() throws {
    let log = try eventfulLog()
    let page = try page(of: log, title: "A session")

    #expect(page.place(of: "<!doctype html>") == 0)
    #expect(page.bytes.suffix(8) == Array("</html>\n".utf8)[...])
    #expect(page.contains("<title>A session</title>"))
    #expect(page.count(of: "<script>") == 1)
    for kind in ["numbers", "texts", "records", "keyframe", "names", "about"] {
      #expect(page.contains("data-block=\"\(kind)\""), "\(kind)")
    }
    #expect(page.contains("default-src 'none'"))
    let script = try #require(page.parts(from: "<script>", to: "</script>").first)
    let digest = SHA256.digest(of: script.bytes)
    #expect(page.contains("script-src 'sha256-\(Data(digest).base64EncodedString())'"))
    #expect(!page.contains("://"), "the page must load nothing")
  }

  @Test("The heading is the log's name without the folders that it is in")
  func headingHasNoFolder() throws {
    let bytes = try LogHarness.eventfulRun().bytes
    let log = try EventLog(bytes: bytes, name: "/Users/somebody/logs/today.jsonl")
    let page = try page(of: log)
    #expect(page.contains("<title>today.jsonl</title>") && !page.contains("somebody"))
  }

  @Test("SHA-256 is that of the standard")
  func hashIsStandard() {
    func hash(_ text: String) -> String {
      SHA256.digest(of: Array(text.utf8))
        .map { byte in
          (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        .joined()
    }
    #expect(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    )
  }

  @Test("Every event is in the page, with the state after it")
  func numbersAgree() throws {
    let log = try eventfulLog()
    let page = try page(of: log)

    let about = try #require(JSON(page.blocks(of: "about").first))
    #expect(about["count"].int == log.count)
    let chunks = try page.blocks(of: "numbers").map { try #require(JSON($0)) }
    #expect(chunks.reduce(0) { $0 + $1["kind"].list.count } == log.count)
    let parked = chunks.flatMap { chunk in
      let list = chunk["parked"].list
      return list.isEmpty ? chunk["kind"].list.map { _ in 0 } : list.compactMap(\.int)
    }
    var wanted: [Int] = []
    try log.forEachStep { (step) throws(LogError) in
      wanted.append(try log.state(at: step.sequence).parkedRecords.count)
      return true
    }
    #expect(parked == wanted)
  }

  @Test("The changes of all events lead to the summary of the last state")
  func changesAddUp() throws {
    let log = try eventfulLog()
    let page = try page(of: log)

    var values: [JSON] = []
    for block in page.blocks(of: "texts") {
      let chunk = try #require(JSON(block))
      // A chunk begins with what the one before it came to.
      if !values.isEmpty { #expect(chunk["base"].list == values) }
      values = chunk["base"].list
      for changes in chunk["changes"].list.map(\.list) {
        for index in stride(from: 0, to: changes.count, by: 2) {
          values[try #require(changes[index].int)] = changes[index + 1]
        }
      }
    }
    let state = try log.state(at: try #require(log.lastSequence))
    let about = try #require(JSON(page.blocks(of: "about").first))
    let place = try #require(about["fields"].list.firstIndex(of: .text("Records done")))
    #expect(values[place].int == state.progress.done)
    #expect(values.count == about["fields"].list.count)
  }

  @Test("The history of a refused record is told from the queue to its parking")
  func tellsLives() throws {
    let page = try page(of: eventfulLog())

    let names = try #require(JSON(page.blocks(of: "names").first)).list
    let about = try #require(JSON(page.blocks(of: "about").first))
    let record = try #require(names.firstIndex(of: .text("r13")))
    var history: [String] = []
    for row in page.blocks(of: "records").flatMap({ JSON($0)?.list ?? [] }).map(\.list) {
      for index in stride(from: 0, to: row.count, by: 2) where row[index].int == record {
        history.append(about["verbs"].list[try #require(row[index + 1].int)].string ?? "")
      }
    }
    #expect(history.first == "queued to be saved")
    #expect(history.contains("sent to save"))
    #expect(history.contains("parked: invalidArguments"))
  }

  @Test("The same log gives the same bytes")
  func isDeterministic() throws {
    let bytes = try LogHarness.eventfulRun().bytes
    let first = try LogReport.html(of: EventLog(bytes: bytes))
    let second = try LogReport.html(of: EventLog(bytes: bytes))
    #expect(first == second)
  }

  @Test("A log without events gives a page")
  func takesAnEmptyLog() throws {
    let bench = CloudHarness()
    let recorder = EventRecorder(.ring(), redactor: .none)
    recorder.attach(to: bench.session)
    bench.world.run()
    let bytes = try #require(recorder.data(redactor: .none))
    let log = try EventLog(bytes: Array(bytes))
    let page = try page(of: log)

    #expect(log.count == 0)
    #expect(page.blocks(of: "numbers").isEmpty)
    #expect(try #require(JSON(page.blocks(of: "about").first))["count"].int == 0)
  }

  @Test("A redacted log gives a page that has none of the values")
  func keepsSecrets() throws {
    let run = try LogHarness.eventfulRun(sink: .ring(), redactor: .digests(salt: 1))
    let page = try page(of: EventLog(bytes: run.bytes))

    let about = try #require(JSON(page.blocks(of: "about").first))
    #expect(about["redaction"].string == "digests")
    #expect(!page.contains("invalidArguments (no)"))
    #expect(page.contains("invalidArguments"))
  }

  @Test("A salvaged log gives a page, and says where states are known")
  func takesASalvagedLog() throws {
    var lines = try LogHarness.eventfulRun().bytes.split(separator: 0x0a)
    lines[lines.count / 2] = lines[lines.count / 2].dropLast(9)
    let bytes = Array(lines.joined(separator: [0x0a]))
    let log = try EventLog(bytes: bytes, salvaging: true)
    let page = try page(of: log)

    let about = try #require(JSON(page.blocks(of: "about").first))
    #expect(!about["notes"].list.isEmpty)
    #expect(about["count"].int == log.count)
  }

  @Test("A file is written whole or not at all")
  func writesAFile() throws {
    let path = FileManager.default.temporaryDirectory.path + "/cloudsync-report-test.html"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let log = try eventfulLog()
    try LogReport.write(log, toFile: path)

    #expect(FileManager.default.contents(atPath: path) == (try LogReport.html(of: log)))
    #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    let error = #expect(throws: LogError.self) {
      try LogReport.write(log, toFile: "/nonexistent/report.html")
    }
    #expect(error?.code == .file)
  }

  // MARK: Hostile logs

  static let hostileTexts = [
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "\u{2028}alert(1)\u{2029}", "<!--<script>", "]]>", "&lt;script&gt;", "\"';alert(1)//",
    "\\u003c/script>", "${alert(1)}", "javascript:alert(1)", "__proto__", "</SCRIPT >\u{202e}",
  ]

  @Test("Nothing in a log becomes markup", arguments: SuiteSize.some(2, of: hostileTexts))
  func escapes(text hostile: String) throws {
    let log = try EventLog(bytes: hostileBytes(hostile), name: hostile)
    let page = try page(of: log)

    #expect(page.count(of: "<script>") == 1)
    let blockCount = page.count(of: "<script type=\"application/json\"")
    #expect(page.count(of: "</script") + page.count(of: "</SCRIPT") == blockCount + 1)
    for kind in ["numbers", "texts", "records", "keyframe", "names", "about"] {
      for block in page.blocks(of: kind) {
        for mark in ["<", ">", "&", "\u{2028}", "\u{2029}"] {
          #expect(!block.contains(mark))
        }
        #expect(JSON(block) != nil)
      }
    }
    let names = try #require(JSON(page.blocks(of: "names").first)).list
    #expect(names.contains(.text(hostile + "r13")), "the name must come out as it was")
  }

  /// An eventful log in which names, codes of kinds excepted, begin with a hostile text.
  private func hostileBytes(_ hostile: String) throws -> [UInt8] {
    let bytes = try LogHarness.eventfulRun().bytes
    let coded = String(decoding: try JSONEncoder().encode(hostile), as: UTF8.self).dropFirst()
      .dropLast()
    var text = PageBytes(bytes)
    for digit in 0..<10 {
      text = text.replacing("\"name\":\"r\(digit)", with: "\"name\":\"\(coded)r\(digit)")
    }
    text = text.replacing("\"message\":\"no\"", with: "\"message\":\"\(coded)\"")
    return text.bytes
  }

  // MARK: Pages for a browser

  @Test(
    "Writes the pages that browser-check.py opens",
    .enabled(if: ProcessInfo.processInfo.environment["CLOUDSYNC_REPORT_FOLDER"] != nil)
  )
  func writesPagesForABrowser() throws {
    let folder = try #require(ProcessInfo.processInfo.environment["CLOUDSYNC_REPORT_FOLDER"])
    try LogReport.write(eventfulLog(), toFile: "\(folder)/eventful.html")
    let hostile = try EventLog(
      bytes: hostileBytes(Self.hostileTexts[0] + Self.hostileTexts[1]),
      name: Self.hostileTexts[0]
    )
    try LogReport.write(hostile, toFile: "\(folder)/hostile.html")
  }

  private func eventfulLog() throws -> EventLog {
    try EventLog(bytes: LogHarness.eventfulRun().bytes)
  }

  private func page(of log: EventLog, title: String? = nil) throws -> PageBytes {
    PageBytes(try LogReport.html(of: log, title: title))
  }
}

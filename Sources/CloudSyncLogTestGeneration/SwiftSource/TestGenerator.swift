public import CloudSyncCore
public import CloudSyncEventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes Swift tests that reproduce what a recorded session did.
///
/// ```swift
/// let log = try EventLog(path: "session.jsonl")
/// let source = try TestGenerator.swiftTest(for: log, name: "Lost zone")
/// ```
///
/// What it writes is a complete file for a test target that depends on `CloudSyncSession` and
/// `CloudSyncLogTestGeneration`.
public enum TestGenerator {
  /// Writes the test of a recorded session: it expects the error that the recording ended in.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - name: What the test is called.
  ///   - isShortened: Whether the script is cut down to what it takes to end in that error.
  ///   - runLimit: How many runs that may take.
  /// - Returns: A Swift file. If today's code ends otherwise than the recording, a comment says so, and
  ///   the script is whole.
  /// - Throws: An error if the log cannot be read or its script cannot be run.
  public static func swiftTest(
    for log: EventLog,
    name: String,
    isShortened: Bool = true,
    runLimit: Int = 2_000
  ) throws(LogError) -> String {
    var script = try SessionScript(log)
    let recorded = try SessionScript.Outcome(log).finalError
    let played = try script.run().finalError
    var remarks = ["Made by CloudSyncLogTestGeneration from \(SwiftCode.comment(log.name))."]
    if played != recorded {
      let (old, new) = (recorded.map { "\($0)" }, played.map { "\($0)" })
      remarks.append("The recording ended in \(old ?? "no error"), this run in \(new ?? "none").")
    } else if isShortened {
      script = script.shortened(keeping: recorded, runLimit: runLimit)
    }
    return swiftTest(for: script, name: name, expecting: recorded, remarks: remarks)
  }

  /// Writes the test of a script.
  ///
  /// - Parameters:
  ///   - script: The script.
  ///   - name: What the test is called.
  ///   - finalError: The error that the run is expected to end in; nil for none.
  ///   - remarks: Lines of a comment at the top of the file.
  /// - Returns: A Swift file.
  public static func swiftTest(
    for script: SessionScript,
    name: String,
    expecting finalError: SyncError.Code?,
    remarks: [String] = ["Made by CloudSyncLogTestGeneration."]
  ) -> String {
    var file = GeneratedTest(script)
    return file.source(name: name, expecting: finalError, remarks: remarks)
  }
}

/// A test file on its way.
private struct GeneratedTest {
  private let script: SessionScript
  private var literals: SwiftLiterals
  private var lines: [String] = []

  init(_ script: SessionScript) {
    self.script = script
    literals = SwiftLiterals(zoneID: script.zoneID)
  }

  mutating func source(
    name: String,
    expecting finalError: SyncError.Code?,
    remarks: [String]
  ) -> String {
    addBody()
    let ending = finalError.map(SwiftLiterals.code) ?? "nil"
    let remarks = (remarks + ownRemarks).flatMap { $0.split(whereSeparator: \.isNewline) }
    var text = remarks.map { "// \($0)\n" }.joined()
    text += "\nimport CloudSyncLogTestGeneration\nimport CloudSyncSession\n"
    if literals.needsFoundation || isRestored { text += "import Foundation\n" }
    text += "import Testing\n\n"
    text += "@Test(\(SwiftCode.literal(name)))\n"
    text += "func \(Self.identifier(from: name))() throws {\n"
    text += lines.map { $0.isEmpty ? "\n" : "  \($0)\n" }.joined()
    text += "\n  let outcome = try script.run()\n\n  #expect(outcome.finalError == \(ending))\n}\n"
    return text + helpers
  }

  private var ownRemarks: [String] {
    var remarks: [String] = []
    switch script.redaction {
    case .none: break
    case .digests:
      remarks.append("The log was redacted: values are digests, equal ones of equal values.")
    case .dropped: remarks.append("The log was redacted: values are gone, only sizes are left.")
    case .custom: remarks.append("The log was redacted: values are what the app put there.")
    }
    if !script.foreignMiddleware.isEmpty {
      let names = script.foreignMiddleware.map(SwiftCode.comment).joined(separator: ", ")
      remarks.append("The session had middleware of the app's: \(names).")
      remarks.append("Give them to run(middleware:) if they matter.")
    }
    if isRestored { remarks.append("The log begins within a session, which is restored here.") }
    return remarks
  }

  private var isRestored: Bool {
    if case .snapshot = script.beginning { true } else { false }
  }

  /// The name of the test's function: words of ASCII letters and digits behind one another.
  private static func identifier(from name: String) -> String {
    let words = name.unicodeScalars.split {
      !$0.isASCII || !($0.properties.isAlphabetic || $0.properties.numericType != nil)
    }
    let tail = words.prefix(8)
      .map { word in
        let text = String(String.UnicodeScalarView(word))
        return text.prefix(1).uppercased() + text.dropFirst()
      }
    return "reproduces" + (tail.isEmpty ? "TheSession" : tail.joined())
  }

  // MARK: Body

  private mutating func add(_ code: SwiftCode) { lines.append(code.source(indent: 2)) }

  private mutating func addBody() {
    addBeginning()
    if let duration = script.duration {
      lines.append("script.duration = \(SwiftCode.literal(duration).source())")
    }
    if !script.calls.isEmpty { lines.append("") }
    for entry in script.calls {
      let function = entry.isSettled ? "script.after" : "script.at"
      add(.call(function, SwiftCode.literal(entry.time), literals.call(entry.call)))
    }
    if !script.answers.isEmpty { lines.append("") }
    for answer in script.answers {
      var arguments: [(label: String?, value: SwiftCode)] = [(nil, literals.answer(answer))]
      if answer.delay > .zero { arguments.append(("after", SwiftCode.literal(answer.delay))) }
      add(.call("script.answer", arguments))
    }
    for answer in script.accountAnswers { add(literals.accountAnswer(answer)) }
    if !script.decisions.isEmpty { lines.append("") }
    for decision in script.decisions { add(.call("script.decide", literals.decision(decision))) }
  }

  private mutating func addBeginning() {
    var arguments: [(label: String?, value: SwiftCode)] = []
    switch script.beginning {
    case .new(_, let configuration):
      arguments.append(("zoneID", "zone"))
      let changes = SwiftLiterals.changes(making: configuration)
      if !changes.isEmpty {
        lines.append("var configuration = SyncConfiguration()")
        lines += changes.map { "configuration.\($0)" }
        arguments.append(("configuration", "configuration"))
      }
    case .snapshot: arguments.append(("snapshot", "snapshot"))
    }
    if script.time.nanoseconds != 0 {
      arguments.append(("time", SwiftLiterals.time(script.time)))
    }
    if script.nonces != [1] {
      let nonces = script.nonces.map { SwiftCode.text("0x\(String($0, radix: 16))") }
      arguments.append(("nonces", .array(nonces)))
    }
    let head = "var script = "
    let code = SwiftCode.call("SessionScript", arguments)
    lines.append(head + code.source(indent: 2, used: 2 + head.count))
  }

  // MARK: Helpers

  private var helpers: String {
    var text = ""
    var isNew = false
    if case .new = script.beginning { isNew = true }
    if let zoneID = script.zoneID, isNew || literals.needsID {
      text += "\nprivate let zone = \(SwiftLiterals.zone(zoneID).source(used: 19))\n"
    }
    if literals.needsID {
      text +=
        "\nprivate func id(_ name: String) -> RecordID { RecordID(name: name, zoneID: zone) }\n"
    }
    if literals.needsWith {
      text += """

        private func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
          var value = value
          change(&value)
          return value
        }

        """
    }
    if literals.needsData || isRestored {
      text += """

        private func data(_ base64: String) -> Data {
          Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data()
        }

        """
    }
    if case .snapshot(let data) = script.beginning {
      text += "\nprivate let snapshot = data(\n  \"\"\"\n"
      let digits = Array(data.base64EncodedString().utf8)
      for start in stride(from: 0, to: digits.count, by: 96) {
        let line = digits[start..<min(start + 96, digits.count)]
        text += "  \(String(decoding: line, as: UTF8.self))\n"
      }
      text += "  \"\"\"\n)\n"
    }
    return text
  }
}

extension SessionScript {
  /// The zone; nil if the snapshot cannot be read.
  fileprivate var zoneID: ZoneID? {
    switch beginning {
    case .new(let zoneID, _): return zoneID
    case .snapshot(let data):
      do {
        return try SyncArchive(data).state.zoneID
      } catch {
        // Whoever runs the script is told.
        return nil
      }
    }
  }
}

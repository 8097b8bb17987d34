import CloudSyncSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Two devices edit the same notes offline, one of them is killed while it synchronizes, and in the
/// end both and the cloud have the same.
struct Demo {
  private let folder: String
  /// Where the event log of the killed device's recovery goes, if one is wanted.
  private let log: String?

  init(log: String? = nil) throws(NotesError) {
    let template = (getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") + "/notes-demo-XXXXXX"
    var bytes = Array(template.utf8CString)
    guard mkdtemp(&bytes) != nil else { throw FileAccess.failure("create the folder", template) }
    self.log = log
    folder = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func run() throws(NotesError) {
    Output.line("The devices and the cloud are in \(folder).")
    title("Both devices begin with the same notes")
    try notes("laptop", "add", "Buy milk")
    try notes("laptop", "add", "Call the bank")
    try notes("laptop", "sync")
    try notes("phone", "sync")

    title("Offline, both edit them")
    try notes("laptop", "edit", "laptop-1", "Buy milk and eggs")
    try notes("laptop", "delete", "laptop-2")
    try notes("laptop", "add", "Water the plants")
    try notes("phone", "edit", "laptop-1", "Buy oat milk")
    try notes("phone", "edit", "laptop-2", "Call the bank on Monday")
    try notes("phone", "add", "Mend the bicycle")

    title("The phone is killed: the cloud has its edits, and the phone does not know")
    try killPhone()
    try notes("phone", "list")

    title("Both go on")
    try notes("laptop", "sync")
    try notes("phone", "sync", log: log)
    try notes("laptop", "sync")

    title("What each of them has")
    try compare()
  }

  private func title(_ text: String) { Output.line("\n\(text)") }

  /// The command line of a device.
  private func arguments(_ device: String, _ words: [String]) -> [String] {
    ["--device", device, "--folder", "\(folder)/\(device)", "--cloud", "\(folder)/cloud.json"]
      + words
  }

  private func notes(
    _ device: String,
    _ words: String...,
    log: String? = nil
  ) throws(NotesError) {
    let shown = words.map { $0.contains(" ") ? "\"\($0)\"" : $0 }.joined(separator: " ")
    Output.line("\(device)$ notes \(shown)")
    let recording = log.map { ["--record", $0] } ?? []
    let child = try ChildProcess(arguments(device, recording + words))
    show(child)
    guard child.status == 0 else { throw NotesError("notes \(shown) failed on the \(device)") }
  }

  private func killPhone() throws(NotesError) {
    Output.line("phone$ notes sync --lose-answers")
    let words = arguments("phone", ["sync", "--lose-answers"])
    let child = try ChildProcess(words, killedWhenItPrints: "the response is lost")
    show(child)
    guard child.status == nil else { throw NotesError("the phone ended before it could be killed") }
    Output.line("  (killed)")
  }

  private func show(_ child: ChildProcess) {
    for line in child.output.split(separator: "\n") { Output.line("  \(line)") }
  }

  /// Prints the notes of both devices and of the cloud side by side.
  private func compare() throws(NotesError) {
    let sides = [try texts("laptop"), try texts("phone"), try cloudTexts()]
    let ids = Set(sides.flatMap(\.keys)).sorted()
    row(["", "laptop", "phone", "cloud"])
    for id in ids { row([id] + sides.map { $0[id] ?? "–" }) }
    guard sides[0] == sides[1], sides[1] == sides[2] else {
      throw NotesError("they differ; everything is still in \(folder)")
    }
    Output.line("\nAll three are equal.")
    remove()
  }

  private func row(_ cells: [String]) {
    let padded = cells.map { $0 + String(repeating: " ", count: max(0, 36 - $0.count)) }
    let first = String(padded[0].prefix(10))
    Output.line(([first] + padded.dropFirst()).joined(separator: " ").trimmedAtEnd)
  }

  private func texts(_ device: String) throws(NotesError) -> [String: String] {
    let store = try NoteStore.read("\(folder)/\(device)/notes.json")
    return Self.texts((store?.visible ?? []).map { ($0.id, $0.text ?? "") })
  }

  private func cloudTexts() throws(NotesError) -> [String: String] {
    let contents = try FileCloud.Contents.read("\(folder)/cloud.json")
    let records = (contents?.entries ?? []).compactMap(\.record)
    return Self.texts(records.map { ($0.recordID.name, $0["text"]?.stringValue ?? "") })
  }

  private static func texts(_ pairs: [(String, String)]) -> [String: String] {
    Dictionary(pairs) { _, last in last }
  }

  /// Leaves nothing behind.
  private func remove() {
    for device in ["laptop", "phone"] {
      for file in ["notes.json", "session.journal", "lock"] {
        unlink("\(folder)/\(device)/\(file)")
      }
      rmdir("\(folder)/\(device)")
    }
    for file in ["cloud.json", "cloud.json.lock"] { unlink("\(folder)/\(file)") }
    rmdir(folder)
  }
}

extension String {
  fileprivate var trimmedAtEnd: String {
    guard let end = lastIndex(where: { $0 != " " }) else { return "" }
    return String(self[...end])
  }
}

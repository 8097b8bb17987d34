/// The command line, taken apart.
struct Arguments: Sendable {
  var folder = "notes-data"
  var cloud = "notes-cloud.json"
  var device: String?
  var waitSeconds = 30
  var isVerbose = false
  var losesAnswers = false
  /// Where the session's event log goes, if one is wanted.
  var log: String?
  var command = ""
  private var wantsHelp = false
  /// What follows the command.
  var operands: [String] = []

  static let help = """
    notes keeps notes in a JSON file and shares them through a file that plays the cloud.

    usage: notes [OPTIONS] COMMAND

      add "TEXT"         write a note
      edit ID "TEXT"     change a note
      delete ID          throw a note away
      list               show all notes
      sync               send and fetch changes
      status             say what waits, and for what
      demo               let two devices edit offline, kill one of them, and compare the notes

      --folder FOLDER    where this device keeps its notes (notes-data)
      --cloud FILE       the file that plays the cloud (notes-cloud.json)
      --device NAME      the device's name, given once, when its folder is new
      --wait SECONDS     how long sync tries before it gives up (30)
      --verbose          print what the session announces, one line each
      --record FILE      write what the session does into an event log for “cloudsync log”, the
                         texts of the notes included; demo: the log of the killed device's recovery
      --lose-answers     sync: the cloud does as it is told and never answers; kill it then
      --                 what follows is no option

    Everything but sync works offline. No command loses an edit, however it is ended.
    """

  init(_ arguments: some Sequence<String>) throws(NotesError) {
    var rest = ArraySlice(Array(arguments))
    var words: [String] = []
    while let argument = rest.popFirst() {
      if argument == "--" {
        words += rest
        break
      }
      guard argument.hasPrefix("-"), argument != "-" else {
        words.append(argument)
        continue
      }
      try takeOption(argument, &rest)
    }
    if wantsHelp { words = ["help"] }
    guard let command = words.first else { throw .usage("there is no command") }
    self.command = command
    operands = Array(words.dropFirst())
  }

  private mutating func takeOption(
    _ argument: String,
    _ rest: inout ArraySlice<String>
  ) throws(NotesError) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    var given = parts.count > 1 ? String(parts[1]) : nil
    func value() throws(NotesError) -> String {
      guard let value = given ?? rest.popFirst(), !value.isEmpty else {
        throw .usage("\(name) needs a value")
      }
      given = nil
      return value
    }
    switch name {
    case "--folder": folder = try value()
    case "--cloud": cloud = try value()
    case "--device": device = try Self.checkedDevice(try value())
    case "--wait":
      let text = try value()
      guard let seconds = Int(text), (1...86_400).contains(seconds) else {
        throw .usage("--wait takes whole seconds from 1 to 86400, not “\(text)”")
      }
      waitSeconds = seconds
    case "--record": log = try value()
    case "--verbose", "-v": isVerbose = true
    case "--lose-answers": losesAnswers = true
    case "--help", "-h": wantsHelp = true
    default: throw .usage("there is no option \(name)")
    }
    if given != nil { throw .usage("\(name) takes no value") }
  }

  /// Checks that the name can begin the name of a record.
  private static func checkedDevice(_ name: String) throws(NotesError) -> String {
    let isProper = name.utf8.allSatisfy { byte in
      byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == 0x2d
    }
    guard isProper, name.utf8.count <= 40, !name.hasPrefix("-") else {
      throw .usage("a device's name has up to 40 letters, digits and hyphens, not “\(name)”")
    }
    return name
  }

  /// The operands, which must be as many as they have names.
  func operands(_ names: String...) throws(NotesError) -> [String] {
    if operands.count < names.count {
      throw .usage("\(command) needs \(names[operands.count])")
    }
    if operands.count > names.count {
      throw .usage("\(command) does not take “\(operands[names.count])”")
    }
    return operands
  }
}

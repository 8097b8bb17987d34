import CloudSyncService
import Foundation

/// `cloudsync-server token`: who may come in.
enum TokenCommand {
  static let help = """
    Add, list and revoke the tokens with which devices come. A server that runs need not be told.

    usage: cloudsync-server token add --data DIR --account NAME --device NAME [--days N] [--count N]
           cloudsync-server token list --data DIR
           cloudsync-server token revoke --data DIR (ID | --account NAME [--device NAME])

      --data DIR       the server's folder
      --postgres CONNINFO
                       the database that servers share, in place of --data
      --account NAME   whose records: devices of one account see the same
      --device NAME    the device, unique within the account
      --days N         the token ends after so many days; without it never
      --count N        so many tokens, a line each, for devices NAME-1, NAME-2 and so on

    “add” writes the token to standard output, once: it is kept as its SHA-256 digest only. Give it to the device as
    CLOUDSYNC_TOKEN, or in a file that only its owner may read.
    """

  static func run(_ arguments: [String], console: ServerConsole) throws {
    guard let action = arguments.first, !action.hasPrefix("-") else {
      throw ServerFailure.usage("token needs add, list or revoke; “token --help” says more")
    }
    let rest = Array(arguments.dropFirst())
    switch action {
    case "add": try add(rest, console: console)
    case "list": try list(rest, console: console)
    case "revoke": try revoke(rest, console: console)
    default:
      throw ServerFailure.usage("token knows add, list and revoke, not “\(action)”")
    }
  }

  private static func add(_ arguments: [String], console: ServerConsole) throws {
    let given = try CommandArguments(
      arguments,
      options: ["--data", "--postgres", "--account", "--device", "--days", "--count"]
    )
    let account = try name(of: "--account", given)
    let device = try name(of: "--device", given)
    let days = try given.number(of: "--days", in: 1...36_500)
    let count = try given.number(of: "--count", in: 1...10_000)
    let book = try TokenBook(given, isMade: true)
    let now = Int64(time(nil))
    let names = count.map { (1...$0).map { "\(device)-\($0)" } } ?? [device]
    let tokens = names.map { (device: $0, token: makeToken()) }
    try book.add(
      tokens.map { one in
        TokenEntry(
          sha256: TokenEntry.digits(MemoryTokens.digest(of: one.token)),
          account: account,
          device: one.device,
          created: now,
          expires: days.map { now + Int64($0) * 86_400 }
        )
      }
    )
    console.note(
      "account “\(account)”, device “\(names.joined(separator: "”, “"))”: the token is shown only now"
    )
    for one in tokens { console.line(one.token) }
  }

  /// 256 random bits, as text with a beginning by which a leaked one is recognized.
  static func makeToken() -> String {
    "cst_" + TokenEntry.digits(ServerFolder.randomBytes(count: 32))
  }

  private static func list(_ arguments: [String], console: ServerConsole) throws {
    let given = try CommandArguments(arguments, options: ["--data", "--postgres"])
    let now = Int64(time(nil))
    let entries = try TokenBook(given, isMade: false).entries()
    if entries.isEmpty { return console.note("there are no tokens") }
    var rows = [["id", "account", "device", "created", "ends"]]
    for entry in entries {
      let end = entry.expires.map { $0 <= now ? "\(date($0)), over" : date($0) } ?? "never"
      rows.append([entry.id, entry.account, entry.device, date(entry.created), end])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      console.line(cells.joined(separator: "  ").trimmingCharacters(in: .whitespaces))
    }
  }

  private static func revoke(_ arguments: [String], console: ServerConsole) throws {
    let given = try CommandArguments(
      arguments,
      options: ["--data", "--postgres", "--account", "--device"],
      operandLimit: 1
    )
    let book = try TokenBook(given, isMade: false)
    let id = given.operands.first
    let account = given.value(of: "--account")
    guard (id == nil) != (account == nil) else {
      throw ServerFailure.usage("revoke needs an ID, as “token list” shows it, or --account NAME")
    }
    let device = given.value(of: "--device")
    let count = try book.remove { entry in
      if let id { return entry.id == id }
      return entry.account == account && (device == nil || entry.device == device)
    }
    if count == 0 { throw ServerFailure.failure("there is no such token; “token list” shows all") }
    console.note("revoked \(count == 1 ? "1 token" : "\(count) tokens")")
  }

  private static func name(of option: String, _ given: CommandArguments) throws -> String {
    let name = try given.required(option, "NAME")
    guard name.utf8.count <= 255,
      !name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f })
    else {
      throw ServerFailure.usage("\(option) takes up to 255 bytes without control characters")
    }
    return name
  }

  private static func date(_ seconds: Int64) -> String {
    String(
      Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601).prefix(16)
    )
    .replacingOccurrences(of: "T", with: " ")
  }
}

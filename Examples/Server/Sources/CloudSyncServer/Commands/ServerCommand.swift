import Foundation

/// The program `cloudsync-server`: its commands, and what they say.
public enum ServerCommand {
  /// Runs the program.
  ///
  /// - Parameters:
  ///   - arguments: The arguments without the program's name.
  ///   - console: Takes what is said.
  /// - Returns: The exit code: 0, 1 for a failure, 2 for wrong usage.
  public static func run(
    _ arguments: [String],
    console: ServerConsole = .standard
  ) async -> Int32 {
    do {
      try await perform(arguments, console: console)
      return 0
    } catch ServerFailure.usage(let reason) {
      console.note("error: \(reason)")
      return 2
    } catch ServerFailure.failure(let reason) {
      console.note("error: \(reason)")
    } catch {
      console.note("error: \(error)")
    }
    return 1
  }

  private static func perform(_ arguments: [String], console: ServerConsole) async throws {
    guard let name = arguments.first else {
      throw ServerFailure.usage("a command is missing; “cloudsync-server --help” shows all")
    }
    if ["--help", "-h", "help"].contains(name) { return console.block(help) }
    let rest = Array(arguments.dropFirst())
    let isHelp = rest.contains("--help") || rest.contains("-h")
    switch name {
    case "serve":
      if isHelp { return console.block(ServeCommand.help) }
      try await ServeCommand.run(rest, console: console)
    case "token":
      if isHelp { return console.block(TokenCommand.help) }
      try TokenCommand.run(rest, console: console)
    case "renew":
      if isHelp { return console.block(RenewCommand.help) }
      try RenewCommand.run(rest, console: console)
    default:
      throw ServerFailure.usage(
        "there is no command “\(name)”; “cloudsync-server --help” shows all"
      )
    }
  }

  static let help = """
    A server that devices synchronize through: CloudKit's HTTP API over a SQLite file or a
    PostgreSQL database.

    usage: cloudsync-server COMMAND

    commands:
      serve   answer requests until SIGTERM or Ctrl-C
      token   add, list and revoke the tokens with which devices come
      renew   begin a new branch of history, once after a backup was restored

    “cloudsync-server COMMAND --help” says more about one.
    """
}

/// Where the program writes.
public struct ServerConsole: Sendable {
  private let output: @Sendable (String) -> Void
  private let errors: @Sendable (String) -> Void

  /// Creates a console of two functions that take whole lines.
  public init(
    output: @escaping @Sendable (String) -> Void,
    errors: @escaping @Sendable (String) -> Void
  ) {
    self.output = output
    self.errors = errors
  }

  /// Standard output and standard error.
  public static let standard = ServerConsole(
    output: { FileHandle.standardOutput.write(Data($0.utf8)) },
    errors: { FileHandle.standardError.write(Data($0.utf8)) }
  )

  /// Writes a line of the result.
  func line(_ text: String) { output(text + "\n") }
  /// Writes several lines of the result.
  func block(_ text: String) { output(text.hasSuffix("\n") ? text : text + "\n") }
  /// Writes a line beside the result.
  func note(_ text: String) { errors("cloudsync-server: \(text)\n") }
}

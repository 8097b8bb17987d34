/// The program `cloudsync-server`: its arguments, and what they start.
public enum ServerCommand {
  /// Runs the program.
  ///
  /// - Parameter arguments: The arguments without the program's name.
  /// - Returns: The exit code.
  public static func run(_ arguments: [String]) async -> Int32 {
    print(help)
    return arguments == ["--help"] ? 0 : 2
  }

  static let help = """
    usage: cloudsync-server COMMAND
    """
}

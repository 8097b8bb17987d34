/// `cloudsync completions`: scripts that let a shell complete commands and options.
enum CompletionsCommand {
  /// The command, for a tool with other commands.
  static func command(completing others: [Command]) -> Command {
    Command(
      path: ["completions"],
      summary: "Print a script with which bash, zsh or fish complete commands and options.",
      operands: ["SHELL"],
      choices: ["bash", "zsh", "fish"],
      discussion: """
        Have the shell read it when it starts:

          bash   source <(cloudsync completions bash)
          zsh    cloudsync completions zsh > "${fpath[1]}/_cloudsync"
          fish   cloudsync completions fish > ~/.config/fish/completions/cloudsync.fish
        """,
      run: { try run(with: $0, others: others, console: $1) }
    )
  }

  private static func run(
    with arguments: Arguments,
    others: [Command],
    console: Console
  ) throws {
    let name = arguments.operands[0]
    let script = CompletionScript(completing: others + [command(completing: others)])
    switch name {
    case "bash": console.block(script.bash)
    case "zsh": console.block(script.zsh)
    case "fish": console.block(script.fish)
    default:
      throw ToolError.usage("there is no script for “\(name)”; there are bash, zsh and fish")
    }
  }
}

/// `cloudsync completions`: scripts that let a shell complete commands and options.
enum CompletionsCommand {
  /// The command, for a tool with other commands.
  static func command(completing others: [Command]) -> Command {
    Command(
      path: ["completions"],
      summary: "Print a script with which bash, zsh or fish complete commands and options.",
      operands: ["SHELL"],
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
    let root = Command(path: [], summary: "", subcommands: others)
    let commands = [root] + others.flatMap(all)
    switch name {
    case "bash": console.block(bash(commands))
    case "zsh": console.block(zsh(commands))
    case "fish": console.block(fish(commands))
    default:
      throw ToolError.usage("there is no script for “\(name)”; there are bash, zsh and fish")
    }
  }

  /// A command and those in it.
  private static func all(in command: Command) -> [Command] {
    [command] + command.subcommands.flatMap(all)
  }

  /// What may follow a command's words.
  private static func words(after command: Command) -> [String] {
    command.subcommands.compactMap(\.path.last)
      + command.options.filter { !$0.isHidden }.flatMap(\.names) + ["--help"]
      + (command.path.isEmpty ? ["help", "--version"] : [])
  }

  private static func bash(_ commands: [Command]) -> String {
    let cases = commands.map { command in
      let path = command.path.joined(separator: " ")
      return "    \"\(path)\") words=\"\(words(after: command).joined(separator: " "))\" ;;"
    }
    let groups = commands.filter { !$0.subcommands.isEmpty && !$0.path.isEmpty }.flatMap(\.path)
    return """
      _cloudsync() {
        local path="${COMP_WORDS[1]}" words="" current="${COMP_WORDS[COMP_CWORD]}"
        if [ "$COMP_CWORD" -eq 1 ]; then path=""; fi
        case "$path" in
          \(groups.joined(separator: "|"))) if [ "$COMP_CWORD" -gt 2 ]; then path="$path ${COMP_WORDS[2]}"; fi ;;
        esac
        case "$path" in
      \(cases.joined(separator: "\n"))
        esac
        COMPREPLY=($(compgen -W "$words" -- "$current"))
        if [ ${#COMPREPLY[@]} -eq 0 ] || [ "${current#-}" = "$current" -a "$COMP_CWORD" -gt 1 ]; then
          COMPREPLY+=($(compgen -f -- "$current"))
        fi
      }
      complete -o filenames -F _cloudsync cloudsync
      """
  }

  private static func zsh(_ commands: [Command]) -> String {
    """
    #compdef cloudsync
    autoload -U +X bashcompinit && bashcompinit
    \(bash(commands))
    """
  }

  private static func fish(_ commands: [Command]) -> String {
    let lines = commands.flatMap { command -> [String] in
      let path = command.path
      let condition =
        path.isEmpty
        ? "__fish_use_subcommand"
        : path.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
      let names = command.subcommands.map { sub in
        "complete -c cloudsync -n \(quoted(condition)) -a \(sub.path.last ?? "")"
          + " -d \(quoted(sub.summary))"
      }
      let options = command.options.filter { !$0.isHidden && $0.name.hasPrefix("--") }
        .map { option in
          "complete -c cloudsync -n \(quoted(condition)) -l \(option.name.dropFirst(2))"
            + (option.value == nil ? "" : " -r") + " -d \(quoted(option.help))"
        }
      return names + options
    }
    return lines.joined(separator: "\n")
  }

  private static func quoted(_ text: String) -> String {
    "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
  }
}

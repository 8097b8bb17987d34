/// What a shell offers after each command's words, as a script of that shell.
struct CompletionScript {
  /// What may follow the words of one command.
  private struct Place {
    let path: [String]
    /// Whether nothing but one word may follow: another command's, or one of the operand's choices.
    let isGroup: Bool
    let words: [(text: String, help: String)]
    let options: [Command.Option]

    /// The options that take a value.
    var taking: [Command.Option] { options.filter { $0.value != nil } }
    /// The command's words, between spaces.
    var call: String { path.joined(separator: " ") }
  }

  private let places: [Place]

  /// A script for a tool with these commands.
  init(completing commands: [Command]) {
    let root = Command(path: [], summary: "", subcommands: commands)
    let help = Command(path: ["help"], summary: "", subcommands: commands)
    let helpOfGroups = commands.filter { !$0.subcommands.isEmpty }
      .map { Command(path: ["help"] + $0.path, summary: "", subcommands: $0.subcommands) }
    places = ([root, help] + helpOfGroups + commands.flatMap(Self.all)).map(Self.place)
  }

  /// A command and those in it.
  private static func all(in command: Command) -> [Command] {
    [command] + command.subcommands.flatMap(all)
  }

  private static func place(after command: Command) -> Place {
    var words = command.subcommands.map { (text: $0.path.last ?? "", help: $0.summary) }
    words += command.choices.map { (text: $0, help: "") }
    if command.path.isEmpty {
      words.append((text: "help", help: "Say more about a command."))
      words.append((text: "--version", help: "Tell the version."))
    }
    let options = command.options.filter { !$0.isHidden }
    return Place(
      path: command.path,
      isGroup: command.run == nil || !command.choices.isEmpty,
      words: words + [(text: "--help", help: "Say more about it.")],
      options: options
    )
  }

  /// The first words after which another one belongs to the command.
  private var groups: String {
    places.filter { $0.path.count > 1 }.compactMap(\.path.first)
      .reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
      .joined(separator: "|")
  }

  // MARK: bash

  var bash: String {
    let cases = places.map { place in
      let words = place.options.flatMap(\.names) + place.words.map(\.text)
      return "    \"\(place.call)\") words=\"\(words.joined(separator: " "))\";"
        + " files=\(place.isGroup ? "" : "1") ;;"
    }
    let values = values { option in
      let words = option.choices.joined(separator: " ")
      return
        "COMPREPLY=($(compgen \(words.isEmpty ? "-f" : "-W \"\(words)\"") -- \"$current\")); return ;;"
    }
    return """
      _cloudsync() {
        local command="" words="" files="" current="${COMP_WORDS[COMP_CWORD]}"
        if [ "$COMP_CWORD" -gt 1 ]; then command="${COMP_WORDS[1]}"; fi
        case "$command" in
          \(groups)) if [ "$COMP_CWORD" -gt 2 ]; then command="$command ${COMP_WORDS[2]}"; fi ;;
        esac
        case "$command ${COMP_WORDS[COMP_CWORD-1]}" in
      \(values)
        esac
        case "$command" in
      \(cases.joined(separator: "\n"))
        esac
        COMPREPLY=($(compgen -W "$words" -- "$current"))
        if [ -n "$files" ] && [ "${current#-}" = "$current" ]; then
          COMPREPLY+=($(compgen -f -- "$current"))
        fi
      }
      complete -o filenames -F _cloudsync cloudsync
      """
  }

  /// A line for each option that takes a value: the command and the option, and what is done there.
  private func values(_ action: (Command.Option) -> String) -> String {
    places.flatMap { place in
      place.taking.flatMap { option in
        option.names.map { "    \"\(place.call) \($0)\") \(action(option))" }
      }
    }
    .joined(separator: "\n")
  }

  // MARK: zsh

  /// The variable for the command is not called `path`: in zsh that is where programs are looked for.
  var zsh: String {
    let cases = places.map { place in
      let options = place.options.flatMap { option in
        option.names.map { (text: $0, help: option.help) }
      }
      let words = (options + place.words)
        .map { word in
          let text = word.text.replacing(":", with: "\\:")
          return Self.quoted(word.help.isEmpty ? text : "\(text):\(word.help)")
        }
      return "    \"\(place.call)\") candidates=(\(words.joined(separator: " ")));"
        + " files=\(place.isGroup ? "" : "1") ;;"
    }
    let values = values { option in
      option.choices.isEmpty
        ? "_files; return ;;" : "compadd -- \(option.choices.joined(separator: " ")); return ;;"
    }
    return """
      #compdef cloudsync
      _cloudsync() {
        local command="" files=""
        local -a candidates
        if (( CURRENT > 2 )); then command=$words[2]; fi
        case $command in
          \(groups)) if (( CURRENT > 3 )); then command="$command $words[3]"; fi ;;
        esac
        case "$command $words[CURRENT-1]" in
      \(values)
        esac
        case $command in
      \(cases.joined(separator: "\n"))
        esac
        _describe -V cloudsync candidates
        if [[ -n $files ]]; then _files; fi
      }
      if [[ $funcstack[1] == _cloudsync ]]; then _cloudsync "$@"; else compdef _cloudsync cloudsync; fi
      """
  }

  // MARK: fish

  var fish: String {
    let lines = places.flatMap { place -> [String] in
      let condition = (["__cloudsync_at"] + place.path).joined(separator: " ")
      let group = (["__cloudsync_ends"] + place.path).joined(separator: " ")
      let start = "complete -c cloudsync -n "
      let words = place.words
        .map { word in
          let isOption = word.text.hasPrefix("--")
          let name = isOption ? "-l \(word.text.dropFirst(2))" : "-a \(word.text)"
          return start + Self.quoted(group) + " \(name)" + described(word.help)
        }
      let options = place.options.map { option in
        let names = option.names.map {
          $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())"
        }
        let value =
          option.value == nil
          ? ""
          : option.choices.isEmpty
            ? " -r -F" : " -x -a " + Self.quoted(option.choices.joined(separator: " "))
        return start + Self.quoted(condition) + " \(names.joined(separator: " "))\(value)"
          + described(option.help)
      }
      return words + options + (place.isGroup ? [] : [start + Self.quoted(condition) + " -F"])
    }
    return """
      function __cloudsync_at
        set -l words (commandline -opc)
        set -e words[1]
        if test (count $argv) -eq 0; return 0; end
        if test (count $words) -lt (count $argv); return 1; end
        test "$words[1..$(count $argv)]" = "$argv"
      end
      function __cloudsync_ends
        test (count (commandline -opc)) -eq (math (count $argv) + 1); and __cloudsync_at $argv
      end
      complete -c cloudsync -f
      \(lines.joined(separator: "\n"))
      """
  }

  private func described(_ help: String) -> String {
    help.isEmpty ? "" : " -d " + Self.quoted(help)
  }

  /// A text between single quotes, in which every shell takes it as it is.
  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "'\\''") + "'"
  }
}

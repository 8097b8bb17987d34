import Foundation
import Testing

@testable import cloudsync

@Suite("cloudsync completions")
struct CompletionTests {
  private static func script(_ shell: String) -> String {
    final class Lines { var output = "" }
    let lines = Lines()
    let console = Console(output: { lines.output += $0 }, errors: { _ in })
    #expect(Tool.run(with: ["completions", shell], console: console) == 0)
    return lines.output
  }

  @Test(
    "Every script names every command and every option that is shown",
    arguments: ["bash", "zsh", "fish"]
  )
  func isWhole(shell: String) {
    let script = Self.script(shell)
    var missing: [String] = []
    func check(_ command: Command) {
      let options = command.options.filter { !$0.isHidden }
        .map { shell == "fish" ? "-l \($0.name.dropFirst(2)) " : $0.name }
      for word in command.path.suffix(1) + options where !script.contains(word) {
        missing.append("\(command.call): \(word)")
      }
      command.subcommands.forEach(check)
    }
    check(Tool.root)
    #expect(missing == [])
  }

  @Test(
    "bash offers what may come next",
    arguments: [
      (["sta"], ["status"]), (["compl"], ["completions"]),
      (["completions", ""], ["bash", "zsh", "fish", "--help"]),
      (["help", "si"], ["simulate"]), (["help", "history", "mer"], ["merge"]),
      (["sync", "x.db", "--cloud", "/etc/passw"], ["/etc/passwd", "/etc/passwd-"]),
      (
        ["history", "re"],
        [
          "rescan", "remove", "restore", "resolve", "rebase", "revert", "redo", "report",
        ]
      ),
      (["log", "ver"], ["verify"]),
      (["simulate", "--device", ""], ["notes", "sqlite", "history"]),
      (["sync", "--unique-m"], ["--unique-merge"]),
      (["history", "commit", "--mess"], ["--message"]),
    ] as [([String], [String])]
  )
  func bash(words: [String], offered: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    let quoted = words.map { "'\($0)'" }.joined(separator: " ")
    process.arguments = [
      "-c",
      Self.script("bash") + "\nCOMP_WORDS=(cloudsync \(quoted)); COMP_CWORD=\(words.count)\n"
        + "_cloudsync; echo \"${COMPREPLY[*]}\"",
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(Set(output.split(whereSeparator: \.isWhitespace).map(String.init)) == Set(offered))
  }
}

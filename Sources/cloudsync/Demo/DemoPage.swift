import CloudSyncCore
import CloudSyncEventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A page for the browser with the whole story, and the reports of all sessions of both devices.
struct DemoPage {
  let chapters: [DemoChapter]
  let tallies: [DemoTally]

  func write(toFile path: String) throws {
    try LogFile.write(Data(html.utf8), to: path)
  }

  var html: String {
    let story = chapters.map { chapter in
      let rows = chapter.lines.map { line in
        "<tr><td>\(line.clock)<td>\(Self.escaped(line.who))<td>\(Self.escaped(line.words))"
      }
      return "<h2>\(Self.escaped(chapter.title))</h2>\n<table>\n"
        + rows.joined(separator: "\n") + "\n</table>"
    }
    let reports = tallies.flatMap { tally in
      tally.sessions.enumerated()
        .map { place, session in
          // Beside this page, wherever the folder is moved to.
          let name = Self.escaped(SamePath.name(of: session.report))
          let number = tally.sessions.count == 1 ? "" : ", session \(place + 1)"
          return "<li><a href=\"\(name)\">the \(Self.escaped(tally.device))\(number)</a>:"
            + " \(Phrase.count(session.events, "event"))"
        }
    }
    return """
      <!DOCTYPE html>
      <html lang="en"><meta charset="utf-8"><title>cloudsync demo</title>
      <style>
      :root { color-scheme: light dark; }
      body { font: 15px/1.5 system-ui, sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em; }
      h2 { font-size: 1em; margin-bottom: 0; }
      td { padding-right: 1em; vertical-align: top; }
      td:first-child { text-align: right; min-width: 4em; opacity: 0.6; }
      </style>
      <h1>Two devices, a cloud, and all that goes wrong between them</h1>
      <p>Each report below steps through all events of one session. Where the cloud has lost the zone, a
      device ends its session and goes on with another one.</p>
      <ul>
      \(reports.joined(separator: "\n"))
      </ul>
      \(story.joined(separator: "\n"))
      </html>

      """
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
  }
}

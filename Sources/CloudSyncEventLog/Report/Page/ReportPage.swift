import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The page around the data of a report.
///
/// Its script puts data into the page as text only, never as markup, and the page's policy lets no
/// other script run and nothing be loaded.
enum ReportPage {
  /// All up to the first block of data.
  static func beginning(title: String) -> String {
    let title = escaped(EventWords.cut(title))
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(policy)">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(title)</title>
      <style>\(style)</style>
      </head>
      <body>
      <a class="skip" href="#slider">Skip to the slider</a>
      <header>
      <div><h1>\(title)</h1><p id="about"></p></div>
      \(headerTools)
      </header>
      <ul id="notes" class="notes" aria-label="Notes on the log" hidden></ul>
      <noscript><p class="notes">This report needs JavaScript; it loads nothing.</p></noscript>
      \(frame)

      """
  }

  /// All after the last block of data.
  static let end = "<script>\(script)</script>\n</body>\n</html>\n"

  /// The whole script.
  static let script =
    "\n(() => {\n\"use strict\";\n"
    + [scriptData, scriptStates, scriptTimeline, scriptList, scriptPanels, scriptControls]
    .joined(separator: "\n") + "\n})();\n"

  private static let policy =
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    + "style-src '\(hash(of: style))'; script-src '\(hash(of: script))'"

  private static func hash(of text: String) -> String {
    "sha256-" + Data(SHA256.digest(of: Array(text.utf8))).base64EncodedString()
  }

  /// Text as it stands in markup.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "&": result += "&amp;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\u{0}"..<"\u{20}", "\u{7f}": result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The page around the data of a report: the files beside this one, put into one.
///
/// Its script puts data into the page as text only, never as markup, and the page's policy lets no
/// other script run and nothing be loaded.
enum ReportPage {
  /// All up to the first block of data.
  static func beginning(title: String) -> String {
    // Filled in piece by piece: a title that looks like a name in the template stays a title.
    pieces.prefix { $0 != "data" }
      .map { piece in
        switch piece {
        case "title": escaped(text: ReportText.cut(title))
        case "policy": policy
        case "style": style
        default: piece
        }
      }
      .joined()
  }

  /// All after the last block of data.
  static let end = pieces.drop { $0 != "data" }.dropFirst().map { $0 == "script" ? script : $0 }
    .joined()

  /// The template, cut at its marks: markup and the names of what is to be filled in alternate.
  private static let pieces =
    text(of: PackageResources.report_html).split(separator: "{{")
    .flatMap { $0.split(separator: "}}", omittingEmptySubsequences: false).map(String.init) }

  private static let style = text(of: PackageResources.report_css)

  /// The whole script.
  private static let script =
    "\n(() => {\n\"use strict\";\n\n"
    + [
      PackageResources.data_js, PackageResources.states_js, PackageResources.timeline_js,
      PackageResources.list_js, PackageResources.panels_js, PackageResources.controls_js,
    ]
    .map(text).joined(separator: "\n") + "\n})();\n"

  private static let policy =
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    + "style-src '\(hash(of: style))'; script-src '\(hash(of: script))'"

  private static func text(of bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private static func hash(of text: String) -> String {
    "sha256-" + Data(SHA256.digest(of: Array(text.utf8))).base64EncodedString()
  }

  /// Text as it stands in markup.
  private static func escaped(text: String) -> String {
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

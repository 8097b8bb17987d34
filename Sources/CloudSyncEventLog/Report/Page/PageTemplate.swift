#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

import CloudSyncCore

/// A page of HTML that needs nothing else: a template with a style and a script, around blocks of data.
///
/// Its policy lets no other script run and nothing be loaded.
package struct PageTemplate: Sendable {
  /// The template, cut at its marks: markup and the names of what is to be filled in alternate.
  private let pieces: [String]
  private let style: String
  private let script: String

  /// Creates a template.
  ///
  /// - Parameters:
  ///   - html: Markup with the marks `title`, `policy`, `style`, `data` and `script` in double braces.
  ///   - styles: Style sheets, put behind each other.
  ///   - scripts: Scripts, put into one function.
  package init(html: [UInt8], styles: [[UInt8]], scripts: [[UInt8]]) {
    pieces = Self.text(of: html).split(separator: "{{")
      .flatMap { $0.split(separator: "}}", omittingEmptySubsequences: false).map(String.init) }
    style = styles.map(Self.text).joined()
    script =
      "\n(() => {\n\"use strict\";\n\n" + scripts.map(Self.text).joined(separator: "\n")
      + "\n})();\n"
  }

  /// All up to the first block of data.
  package func beginning(title: String) -> String {
    // Filled in piece by piece: a title that looks like a name in the template stays a title.
    pieces.prefix { $0 != "data" }
      .map { piece in
        switch piece {
        case "title": Self.escaped(text: ReportText.cut(title))
        case "policy": policy
        case "style": style
        default: piece
        }
      }
      .joined()
  }

  /// All after the last block of data.
  package var end: String {
    pieces.drop { $0 != "data" }.dropFirst().map { $0 == "script" ? script : $0 }.joined()
  }

  private var policy: String {
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
      + "style-src '\(Self.hash(of: style))'; script-src '\(Self.hash(of: script))'"
  }

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

/// Texts of a page.
enum ReportText {
  /// Longer texts are cut: a hostile log must not make the page unreadable.
  private static let longest = 240

  static func cut(_ text: String) -> String {
    text.utf8.count <= longest ? text : String(text.unicodeScalars.prefix(longest)) + "…"
  }
}

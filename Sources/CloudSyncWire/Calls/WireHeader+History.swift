package import CloudSyncCore

/// The tokens by which a cloud that was put back is recognized, as headers.
extension WireHeader {
  /// Of how many tokens of a request's the server takes note.
  private static let mostHistoryTokens = 8

  /// The tokens that a client shows, as a server reads them.
  package static func historyTokens(of request: HTTPRequest) -> [ChangeToken] {
    let text = request.headers[history] ?? ""
    return text.split(separator: ",").prefix(mostHistoryTokens)
      .compactMap { WireToken.token(String($0)) }
  }

  /// What a client shows of tokens that it was told; nil if it has none.
  static func text(ofHistory tokens: [ChangeToken]) -> String? {
    let texts = tokens.compactMap(WireToken.syncToken)
    return texts.isEmpty ? nil : texts.joined(separator: ",")
  }
}

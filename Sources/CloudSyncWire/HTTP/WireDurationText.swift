/// Waits, in seconds with as many decimals as they need.
package enum WireDurationText {
  private static let perSecond: Int64 = 1_000_000_000

  package static func text(nanoseconds: Int64) -> String {
    let (seconds, rest) = max(0, nanoseconds).quotientAndRemainder(dividingBy: perSecond)
    if rest == 0 { return "\(seconds)" }
    let digits = "\(perSecond + rest)".dropFirst()
    return "\(seconds).\(digits)"
  }

  /// Reads seconds; nil if the text is no amount of time.
  package static func nanoseconds(_ text: String) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    if parts.count <= 2, let seconds = Int64(parts[0]), seconds >= 0,
      parts.count == 1 || parts[1].allSatisfy(\.isWholeNumber)
    {
      let padded = (parts.count == 2 ? parts[1] : "").prefix(9) + String(repeating: "0", count: 9)
      let (scaled, isFar) = seconds.multipliedReportingOverflow(by: perSecond)
      let (sum, isTooFar) = scaled.addingReportingOverflow(Int64(padded.prefix(9)) ?? 0)
      return isFar || isTooFar ? .max : sum
    }
    guard let seconds = Double(text), seconds >= 0, seconds.isFinite else { return nil }
    return Int64(exactly: (seconds * 1e9).rounded(.up)) ?? .max
  }
}

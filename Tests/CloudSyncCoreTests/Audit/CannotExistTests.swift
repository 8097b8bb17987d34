import CloudSyncCore
import Testing

@Suite("Audit: what cannot exist here, and whether nothing is forgotten")
struct CannotExistTests {
  /// The audited bugs that have no place here, and why.
  static let reasons: [(id: String, reason: String)] = [
    ("C29", "Waits double and are capped; there is no controller with a derivative."),
    ("C41", "`state` has no setter: only `reduce` changes a state."),
  ]

  /// Every id of the audit, as its document lists them.
  static let all = [
    "C01", "C02", "C03", "C04", "C04b", "C05", "C06", "C07", "C08", "C08b", "C09", "C09b", "C10",
    "C10b", "C11", "C11b", "C11c", "C11d", "C12", "C13", "C14", "C15", "C16", "C16b", "C16c",
    "C17", "C17b", "C17c", "C17d", "C18", "C19", "C20", "C20b", "C21", "C22", "C22b", "C23",
    "C23b", "C23c", "C23d", "C24", "C25", "C26", "C26b", "C27", "C27b", "C27c", "C28", "C29",
    "C29b", "C30", "C31", "C32", "C33", "C35", "C35b", "C36", "C37", "C38", "C39", "C40", "C41",
    "C42", "C43", "C43b", "C44", "C45",
  ]

  @Test("Every audited bug has a test, or a reason why it cannot exist, and not both")
  func completeness() {
    let tested = DataLossAudit.ids + HangAudit.ids + RetryAudit.ids + ConcurrencyAudit.ids
    let covered = tested + Self.reasons.map(\.id)

    #expect(covered.sorted() == Self.all)
    #expect(Self.reasons.allSatisfy { $0.reason.hasSuffix(".") })
  }
}

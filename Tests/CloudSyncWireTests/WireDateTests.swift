import CloudSyncCore
import CloudSyncWire
import Foundation
import Testing

@Suite("Dates on the wire")
struct WireDateTests {
  @Test(
    "54. A date is written to the second, in every year",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
      (951_782_400, "2000-02-29T00:00:00Z"),
      (1_795_577_206, "2026-11-25T03:26:46Z"), (4_107_542_399, "2100-02-28T23:59:59Z"),
      (4_107_542_400, "2100-03-01T00:00:00Z"), (-2_203_891_200, "1900-03-01T00:00:00Z"),
    ]
  )
  func text(seconds: Int64, text: String) {
    for nanoseconds: Int64 in [0, 999_999_999] {
      let time = Timestamp(nanoseconds: seconds * 1_000_000_000 + nanoseconds)
      #expect(WireDate.text(time) == text)
    }
  }

  @Test("54. Dates are those of Foundation's calendar")
  func likeFoundation() throws {
    let formatter = ISO8601DateFormatter()
    var random = SplitMix64(seed: 54)
    for _ in 0..<2_000 {
      let seconds = Int64(random.below(18_000_000_000)) - 9_000_000_000
      let expected = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
      #expect(WireDate.text(Timestamp(nanoseconds: seconds * 1_000_000_000)) == expected)
    }
  }
}

import Foundation
import Testing

@testable import CloudSyncCore

@Suite("Timestamp")
struct TimestampTests {
  private func at(_ nanoseconds: Int64) -> Timestamp { Timestamp(nanoseconds: nanoseconds) }

  @Test("Dates of whole microseconds survive within a date's resolution, before and after 1970")
  func datesAreBridged() {
    for seconds: Int64 in [-2_208_988_800, -1, 0, 1, 978_307_200, 1_700_000_000, 4_102_444_800] {
      let exact = at(seconds * 1_000_000_000)
      #expect(Timestamp(exact.date) == exact)
      #expect(exact.date == Date(timeIntervalSince1970: Double(seconds)))
    }
    let half = Timestamp(Date(timeIntervalSince1970: -0.5))
    #expect(half == at(-500_000_000))
  }

  @Test("Dates out of reach become the ends, one that is no number the beginning of 1970")
  func datesAreClamped() {
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: 1e300)) == .distantFuture)
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: -1e300)) == .distantPast)
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: 1e12)) == .distantFuture)
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: -1e12)) == .distantPast)
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: .infinity)) == .distantFuture)
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: .nan)) == at(0))
    #expect(Timestamp.distantPast.date < Timestamp.distantFuture.date)
  }

  @Test("Nanoseconds are added and subtracted up to the ends of the range")
  func arithmeticSaturates() {
    #expect(at(5) + 7 == at(12))
    #expect(at(5) - 7 == at(-2))
    #expect(at(.max) + 1 == .distantFuture)
    #expect(at(.min) + -1 == .distantPast)
    #expect(at(.min) - 1 == .distantPast)
    #expect(at(0) - .min == .distantFuture)
    #expect(at(-1) - .min == .distantFuture)
    #expect(at(-5).advanced(byNanoseconds: .max) == at(.max - 5))
  }

  @Test("Durations are added exactly, and clamped")
  func durationsSaturate() {
    #expect(at(1).adding(.milliseconds(2)) == at(2_000_001))
    #expect(at(1).adding(.milliseconds(-2)) == at(-1_999_999))
    #expect(at(1).adding(Duration(secondsComponent: 0, attosecondsComponent: 999_999_999)) == at(1))
    #expect(at(0).adding(.seconds(Int64.max)) == .distantFuture)
    #expect(at(0).adding(.seconds(-Int64.max)) == .distantPast)
    let tenBillionLater = at(.min + 5_000_000_000_000_000_000 + 5_000_000_000_000_000_000)
    #expect(at(.min).adding(.seconds(10_000_000_000)) == tenBillionLater)
    #expect(at(.max).adding(.nanoseconds(-1)) == at(.max - 1))
  }

  @Test("Distances stop at the ends of Int64")
  func distancesSaturate() {
    #expect(at(3).distance(to: at(10)) == 7)
    #expect(at(10).distance(to: at(3)) == -7)
    #expect(at(.min).distance(to: at(.max)) == .max)
    #expect(at(.max).distance(to: at(.min)) == .min)
  }

  @Test("Timestamps are ordered by time")
  func order() {
    #expect(at(-1) < at(0))
    #expect([at(3), at(-3), at(0)].sorted() == [at(-3), at(0), at(3)])
  }
}

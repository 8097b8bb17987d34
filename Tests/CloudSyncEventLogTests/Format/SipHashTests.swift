import Testing

@testable import CloudSyncEventLog

@Suite("SipHash")
struct SipHashTests {
  /// The digests that the authors publish for the key 00…0f and the inputs 00, 01, … of a length.
  private static let digests: [(length: Int, digest: String)] = [
    (0, "a3817f04ba25a8e66df67214c7550293"), (1, "da87c1d86b99af44347659119b22fc45"),
    (2, "8177228da4a45dc7fca38bdef60affe4"), (3, "9c70b60c5267a94e5f33b6b02985ed51"),
    (15, "5493e99933b0a8117e08ec0f97cfc3d9"), (63, "5150d1772f50834a503e069a973fbd7c"),
  ]

  @Test("Digests are those that the authors publish", arguments: digests)
  func published(length: Int, digest: String) {
    var hash = SipHash(key: (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908))
    (0..<length).map { UInt8($0) }.withUnsafeBytes { hash.combine(bytes: $0) }
    let (low, high) = hash.finish()

    var text = ""
    for half in [low, high] {
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        let digits = String(half >> shift & 0xff, radix: 16)
        text += digits.count < 2 ? "0\(digits)" : digits
      }
    }
    #expect(text == digest)
  }
}

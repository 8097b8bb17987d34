import CloudSyncCore
import CloudSyncLocalCloud

/// Addresses that are good for a while without a token: those under which the bytes of one account's assets come and
/// go, and those at which its devices wait for changes.
///
/// An address says whose it is, and is signed: nobody makes one but the service.
struct ServiceTickets: Sendable {
  /// What an address is good for.
  enum Purpose: Sendable, Hashable {
    case upload
    /// The file of a digest, in hexadecimal digits.
    case download(String)
    /// A device may wait, as long as the token is good that has the digest, in hexadecimal digits.
    case courier(String)

    fileprivate init(_ text: String) {
      self =
        switch text.first {
        case nil: .upload
        case Self.courierMark: .courier(String(text.dropFirst()))
        default: .download(text)
        }
    }

    fileprivate var text: String {
      switch self {
      case .upload: ""
      case .download(let digest): digest
      case .courier(let digest): "\(Self.courierMark)\(digest)"
      }
    }

    /// No digit of a digest.
    private static let courierMark: Character = "w"
  }

  /// What an address says.
  typealias Ticket = (purpose: Purpose, account: AccountIdentity)

  /// How long an address is good.
  private static let lifetime: Int64 = 15 * 60

  let secret: [UInt8]

  /// The last part of an address.
  func ticket(
    for purpose: Purpose,
    account: AccountIdentity,
    now: Timestamp
  ) -> String {
    let end = now.nanoseconds / 1_000_000_000 + Self.lifetime
    let payload = Self.digits(Array("\(end)/\(purpose.text)/\(account.value)".utf8))
    return "\(payload).\(signature(of: payload))"
  }

  /// Reads the last part of an address; nil if it was not made here, or is good no more.
  func read(_ ticket: some StringProtocol, now: Timestamp) -> Ticket? {
    let parts = ticket.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 2,
      ConstantTime.areEqual(Array(parts[1].utf8), Array(signature(of: parts[0]).utf8)),
      let payload = Self.text(ofDigits: parts[0])
    else { return nil }
    let slash = UInt8(ascii: "/")
    let fields = payload.utf8
      .split(separator: slash, maxSplits: 2, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard fields.count == 3, let end = Int64(fields[0]), now.nanoseconds / 1_000_000_000 <= end
    else { return nil }
    return (Purpose(fields[1]), AccountIdentity(fields[2]))
  }

  // MARK: Signatures

  /// An HMAC, as digits.
  private func signature(of text: String) -> String {
    Self.digits(SHA256.code(of: Array(text.utf8), key: secret))
  }

  static func digits(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  private static func text(ofDigits digits: String) -> String? {
    bytes(ofDigits: digits).flatMap { $0.withUnsafeBytes { UTF8Bytes.text($0) } }
  }

  /// The bytes that digits say; nil if they are none.
  static func bytes(ofDigits digits: String) -> [UInt8]? {
    let digits = Array(digits.utf8)
    guard digits.count % 2 == 0 else { return nil }
    let bytes = stride(from: 0, to: digits.count, by: 2)
      .compactMap { UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16) }
    return bytes.count * 2 == digits.count ? bytes : nil
  }
}

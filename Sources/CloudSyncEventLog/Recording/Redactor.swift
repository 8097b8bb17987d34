public import CloudSyncCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What an event log hides before anything leaves the process.
///
/// Whatever the choice, the names of records, fields and zones, the kinds and sizes of values, change
/// tags and times stay: they are what a log is read for. Hidden are the values of fields, user info
/// with its keys, the messages of errors that a handler or a cloud gave, change tokens, the account's
/// identity and the owners of zones. The library's own error messages stay. A log that hides
/// something folds, verifies and re-runs like any other, but no session can be restored from it.
public struct Redactor: Sendable {
  enum Rule: Sendable {
    case nothing
    case digests(keeping: [String])
    case drops(keeping: [String])
    case custom(@Sendable (_ value: FieldValue, _ field: String) -> FieldValue)
  }

  let rule: Rule
  let key: (UInt64, UInt64)

  /// Hides nothing.
  public static let none = Redactor(rule: .nothing, key: (0, 0))

  /// Replaces values by digests; equal values have equal digests within a log, and only there.
  ///
  /// - Parameters:
  ///   - fields: The names of fields whose values stay.
  ///   - salt: What the digests depend on besides the values: keep it secret, as with it values can
  ///     be guessed. By default another one for every redactor.
  /// - Returns: The redactor.
  public static func digests(keeping fields: [String] = [], salt: UInt64? = nil) -> Redactor {
    Redactor(rule: .digests(keeping: fields), key: makeKey(salt: salt))
  }

  /// Drops values: not even which of them are equal can be told.
  ///
  /// Change tokens, the account's identity, owners of zones and the keys of user info are replaced by
  /// digests also here: a session's course depends on whether two of them are equal.
  public static func drops(keeping fields: [String] = [], salt: UInt64? = nil) -> Redactor {
    Redactor(rule: .drops(keeping: fields), key: makeKey(salt: salt))
  }

  /// Replaces the values of fields by what a function returns; all else as ``digests(keeping:salt:)``.
  ///
  /// - Parameters:
  ///   - salt: As for ``digests(keeping:salt:)``.
  ///   - replace: Gives what is written for a value: always the same for the same value, and of the
  ///     same size, or the log will not re-run.
  /// - Returns: The redactor.
  public static func custom(
    salt: UInt64? = nil,
    _ replace: @escaping @Sendable (_ value: FieldValue, _ field: String) -> FieldValue
  ) -> Redactor {
    Redactor(rule: .custom(replace), key: makeKey(salt: salt))
  }

  private static func makeKey(salt: UInt64?) -> (UInt64, UInt64) {
    guard let salt else {
      var system = SystemRandomNumberGenerator()
      return (system.next(), system.next())
    }
    return (salt, salt &* 0x9e37_79b9_7f4a_7c15 ^ 0x6a09_e667_f3bc_c908)
  }

  /// What the header says about it.
  var redaction: LogRedaction {
    switch rule {
    case .nothing: .none
    case .digests: .digests
    case .drops: .dropped
    case .custom: .custom
    }
  }

  /// What a writer uses; nil if there is nothing to hide.
  var active: ActiveRedactor? {
    if case .nothing = rule { nil } else { ActiveRedactor(redactor: self) }
  }
}

/// A redactor at work.
struct ActiveRedactor: LineRedactor {
  let redactor: Redactor

  func value(_ value: FieldValue, of field: String) -> FieldValue {
    switch redactor.rule {
    case .nothing: value
    case .digests(let kept): kept.contains(field) ? value : redacted(value: value, hasDigest: true)
    case .drops(let kept): kept.contains(field) ? value : redacted(value: value, hasDigest: false)
    case .custom(let replace): replace(value, field)
    }
  }

  private func redacted(value: FieldValue, hasDigest: Bool) -> FieldValue {
    // An edit that removes a field is no value, and one that is hidden already stays so.
    switch value {
    case .null, .redacted: return value
    default: break
    }
    let bytes = hasDigest ? value.codedBytes : []
    let digest = hasDigest ? bytes.withUnsafeBytes { self.digest(of: $0, domain: 0xff) } : ""
    return .redacted(Redaction(kind: value.kind, byteCount: value.byteCount, digest: digest))
  }

  func text(_ text: String, as part: PrivatePart) -> String {
    switch part {
    case .message where LibraryMessages.contain(text): return text
    // Whoever is signed in has no name there.
    case .zoneOwner where UTF8Bytes.equal(text, ZoneID.currentUser): return text
    default: break
    }
    if text.isEmpty || isDropped(part: part) { return "" }
    return UTF8Bytes.with(text) { digest(of: $0, domain: part.rawValue) }
  }

  func bytes(_ bytes: Data, as part: PrivatePart) -> Data {
    Data(bytes.withUnsafeBytes { digest(of: $0, domain: part.rawValue) }.utf8)
  }

  private func isDropped(part: PrivatePart) -> Bool {
    guard case .drops = redactor.rule else { return false }
    return part == .message || part == .userInfo
  }

  /// 72 bits in base64: no two values of a log meet by chance.
  private func digest(of bytes: UnsafeRawBufferPointer, domain: UInt8) -> String {
    var hash = SipHash(key: redactor.key)
    withUnsafeTemporaryAllocation(byteCount: bytes.count + 1, alignment: 1) { message in
      message.copyMemory(from: bytes)
      message[bytes.count] = domain
      hash.combine(bytes: UnsafeRawBufferPointer(message))
    }
    let (low, high) = hash.finish()
    return String(unsafeUninitializedCapacity: Self.digestLength) { digits in
      for place in 0..<10 { digits[place] = Self.digit(bits: low >> UInt64(6 * place)) }
      digits[10] = Self.digit(bits: low >> 60 | high << 4)
      digits[11] = Self.digit(bits: high >> 2)
      return Self.digestLength
    }
  }

  /// Texts of up to 15 bytes need no memory of their own, and ``HiddenFields`` takes them apart.
  private static let digestLength = 12

  /// The digit of the last six bits, of those that base64 has for addresses.
  private static func digit(bits: UInt64) -> UInt8 {
    digits.utf8Start[Int(bits & 63)]
  }

  private static let digits: StaticString =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
}

import CloudSyncLocalCloud
import CloudSyncSession

/// The changes of some time, as the text of one notice.
///
/// Each change is the account and the device, with their lengths before them: `5:alice5:phone`. A text of
/// only the number of the schema and a slash means that anything may have changed.
struct ChangeNotices {
  /// PostgreSQL takes a little less than 8,000 bytes.
  static let byteLimit = 7_900

  private var parts: [String] = []
  /// Looked into, never iterated.
  private var known: Set<[UInt8]> = []
  private var byteCount = 0
  /// Whether there were more than fit.
  private var isAll = false

  var isEmpty: Bool { parts.isEmpty && !isAll }

  /// Adds a change, once.
  mutating func add(_ change: LocalCloudChange) {
    if isAll { return }
    let part = Self.field(change.account.value) + Self.field(change.device)
    guard known.insert(Array(part.utf8)).inserted else { return }
    byteCount += part.utf8.count
    // NUL ends a text of PostgreSQL's.
    if byteCount > Self.byteLimit - 16 || part.utf8.contains(0) {
      addAll()
    } else {
      parts.append(part)
    }
  }

  /// Says that anything may have changed.
  mutating func addAll() {
    self = ChangeNotices()
    isAll = true
  }

  private static func field(_ text: String) -> String { "\(text.utf8.count):\(text)" }

  /// The text for the stores of a schema.
  func text(namespace: Int32) -> String { "\(namespace)/" + (isAll ? "" : parts.joined()) }

  /// Reads a text.
  ///
  /// - Parameters:
  ///   - text: What another process has told.
  ///   - namespace: The number of the store's schema.
  /// - Returns: The changes, nil each where anything may have changed; none if it is not for this store.
  static func changes(in text: String, namespace: Int32) -> [LocalCloudChange?] {
    let bytes = Array(text.utf8)
    let prefix = Array("\(namespace)/".utf8)
    guard bytes.starts(with: prefix) else { return [] }
    var rest = bytes[prefix.count...]
    if rest.isEmpty { return [nil] }
    var changes: [LocalCloudChange?] = []
    while !rest.isEmpty {
      guard let account = take(from: &rest), let device = take(from: &rest) else { return [nil] }
      let zoneID = ZoneID(name: ZoneID.defaultZoneName)
      changes.append(
        LocalCloudChange(account: AccountIdentity(account), zoneID: zoneID, device: device)
      )
    }
    return changes
  }

  private static func take(from bytes: inout ArraySlice<UInt8>) -> String? {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let count = Int(String(decoding: bytes[..<colon], as: UTF8.self)), count >= 0,
      bytes.endIndex - colon - 1 >= count
    else { return nil }
    defer { bytes = bytes[(colon + 1 + count)...] }
    return String(decoding: bytes[(colon + 1)..<(colon + 1 + count)], as: UTF8.self)
  }
}

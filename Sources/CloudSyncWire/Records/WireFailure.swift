package import CloudSyncCore

/// An error as the API tells it, of a request or of one item.
package struct WireFailure: Sendable {
  /// `serverErrorCode`.
  package var code: String
  /// `reason`, for people.
  package var reason: String
  /// `retryAfter`, in nanoseconds.
  package var retryAfter: Int64?
  /// Where to sign in.
  package var redirectURL: String?
  /// CloudKit's own number of the error, which the project's server adds.
  package var number: Int?
  /// Whether the zone is missing because its data were reset.
  package var isReset = false
  /// The record as the server has it, in a conflict.
  package var serverRecord: Record?

  package init(code: String, reason: String) {
    self.code = code
    self.reason = reason
  }

  /// Reads the members of an error among those of something else.
  struct Members {
    private var code: String?
    private var partial = WireFailure(code: "", reason: "")

    /// The error, if the members were those of one.
    var failure: WireFailure? {
      guard let code else { return nil }
      var failure = partial
      failure.code = code
      return failure
    }

    /// Reads the value of a member, or skips it.
    mutating func take(
      _ name: String,
      in zoneID: ZoneID,
      with assets: @escaping (WireAsset) -> Asset? = { _ in nil },
      from reader: inout JSONReader
    ) throws(WireError) {
      switch name {
      case "serverErrorCode": code = try reader.string()
      case "reason": partial.reason = try reader.string()
      case "retryAfter": partial.retryAfter = WireDurationText.nanoseconds(try reader.numberText())
      case "redirectURL": partial.redirectURL = try reader.string()
      case "cloudErrorCode": partial.number = Int(exactly: try reader.int64())
      case "reset": partial.isReset = try reader.bool()
      case "serverRecord":
        partial.serverRecord = try WireItem(in: zoneID, with: assets, from: &reader)
          .record(in: zoneID)
      default: try reader.skipValue()
      }
    }
  }

  /// Reads an error that stands alone; nil if the bytes are none.
  package static func read(_ bytes: [UInt8], zoneID: ZoneID) -> WireFailure? {
    var members = Members()
    var reader = JSONReader(bytes)
    do throws(WireError) {
      try reader.object { (reader, name) throws(WireError) in
        if try reader.isNull() { return }
        try members.take(name, in: zoneID, from: &reader)
      }
      try reader.end()
    } catch { return nil }
    return members.failure
  }

  /// Writes the members of the error into an object.
  package func writeMembers(
    with assets: (Asset) -> WireAsset = { WireAsset($0) },
    to writer: inout JSONWriter
  ) {
    writer.member("serverErrorCode", code)
    writer.member("reason", reason)
    if let retryAfter {
      writer.name("retryAfter")
      writer.raw(WireDurationText.text(nanoseconds: retryAfter))
    }
    writer.member("redirectURL", redirectURL)
    if let number { writer.member("cloudErrorCode", Int64(number)) }
    if isReset { writer.member("reset", true) }
    if let serverRecord {
      writer.name("serverRecord")
      WireRecord.write(serverRecord, with: assets, to: &writer)
    }
  }
}

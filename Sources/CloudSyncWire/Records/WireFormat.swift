package import CloudSyncCore

/// What both sides agree on about values: CloudKit's form, and what the project's own server has beside.
package struct WireFormat: Sendable, Hashable {
  /// Whether doubles that are not finite may be sent, as text.
  package var sendsNonFinite: Bool
  /// Whether empty lists may be sent: without a type, as there is none.
  package var sendsEmptyLists: Bool

  package init(sendsNonFinite: Bool, sendsEmptyLists: Bool) {
    self.sendsNonFinite = sendsNonFinite
    self.sendsEmptyLists = sendsEmptyLists
  }

  /// The project's own server.
  package static let own = WireFormat(sendsNonFinite: true, sendsEmptyLists: true)
  /// Apple's service.
  package static let apple = WireFormat(sendsNonFinite: false, sendsEmptyLists: true)

  /// Why a value cannot be sent; nil if it can.
  package func problem(_ value: FieldValue) -> String? {
    switch value {
    case .null, .string, .int64, .timestamp, .data, .reference, .asset: return nil
    case .double(let number): return isSendable(number) ? nil : "a number is not finite"
    case .location(let location):
      return location.numbers.allSatisfy { $0.value.map(isSendable) ?? true }
        ? nil : "a number of a location is not finite"
    case .list(let values): return problem(list: values)
    case .redacted: return "a redacted value cannot be saved"
    }
  }

  private func isSendable(_ number: Double) -> Bool { sendsNonFinite || number.isFinite }

  private func problem(list values: [FieldValue]) -> String? {
    guard let first = values.first else {
      return sendsEmptyLists ? nil : "an empty list has no type"
    }
    for value in values {
      if case .list = value { return "a list has no lists" }
      guard value.kindIndex == first.kindIndex, !value.isNull else {
        return "a list has values of one kind, and no nulls"
      }
      if let problem = problem(value) { return problem }
    }
    return nil
  }
}

extension Location {
  /// The numbers of the API's location, by their names.
  var numbers: [(name: StaticString, value: Double?)] {
    [
      ("latitude", latitude), ("longitude", longitude), ("altitude", altitude),
      ("horizontalAccuracy", horizontalAccuracy), ("verticalAccuracy", verticalAccuracy),
      ("course", course), ("speed", speed),
    ]
  }
}

/// A timestamp in the API's unit.
package enum WireTime {
  /// A millisecond.
  package static let unit = Duration.milliseconds(1)
  static let nanoseconds: Int64 = 1_000_000

  static func milliseconds(_ timestamp: Timestamp) -> Int64 {
    timestamp.rounded(toMultipleOf: nanoseconds).nanoseconds / nanoseconds
  }

  static func timestamp(milliseconds: Int64) -> Timestamp {
    let (product, isFar) = milliseconds.multipliedReportingOverflow(by: nanoseconds)
    return Timestamp(nanoseconds: isFar ? (milliseconds < 0 ? .min : .max) : product)
  }
}

extension JSONReader {
  /// Reads milliseconds since 1970; parts of one are cut off.
  mutating func timestamp() throws(WireError) -> Timestamp {
    let text = try numberText()
    if let whole = Int64(text) { return WireTime.timestamp(milliseconds: whole) }
    guard let number = Double(text)?.rounded(.down), let whole = Int64(exactly: number) else {
      throw failure("\(text.prefix(40)) is no time")
    }
    return WireTime.timestamp(milliseconds: whole)
  }
}

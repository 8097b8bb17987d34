#if canImport(CloudKit)
import CloudSyncCore

extension CloudKitValueWriter {
  /// Why CloudKit cannot hold a value; nil if it can.
  func problem(with value: FieldValue, isEncrypted: Bool) -> String? {
    switch value {
    case .null, .string, .int64, .timestamp, .data: nil
    case .double(let number): number.isFinite ? nil : "CloudKit keeps finite numbers only"
    case .reference(let reference): problem(with: reference, isEncrypted: isEncrypted)
    case .asset:
      isEncrypted ? "CloudKit encrypts files by itself: take the field out of encryptedKeys" : nil
    case .location(let location): problem(with: location)
    case .list(let values): problem(withList: values, isEncrypted: isEncrypted)
    case .redacted: "a value that was redacted cannot be saved"
    }
  }

  private func problem(with reference: Reference, isEncrypted: Bool) -> String? {
    if isEncrypted { return "CloudKit does not encrypt references" }
    guard reference.recordID.zoneID == identifiers.zoneID,
      RecordRules.isName(reference.recordID.name)
    else { return "a reference leads to a record of the same zone" }
    return nil
  }

  private func problem(with location: Location) -> String? {
    let present = [
      location.horizontalAccuracy, location.verticalAccuracy, location.course, location.speed,
    ]
    let numbers = present.compactMap { $0 } + [location.latitude, location.longitude]
    guard numbers.allSatisfy(\.isFinite), location.altitude?.isFinite ?? true else {
      return "CloudKit keeps finite numbers only"
    }
    guard present.allSatisfy({ $0.map { $0 >= 0 } ?? true }) else {
      return
        "in a place CloudKit takes a negative accuracy, course or speed as absent"
    }
    if location.altitude == nil, location.verticalAccuracy != nil {
      return "CloudKit keeps the accuracy of an altitude only beside the altitude"
    }
    return nil
  }

  private func problem(withList values: [FieldValue], isEncrypted: Bool) -> String? {
    for value in values {
      switch value {
      case .list, .null: return "CloudKit keeps neither lists nor nulls in lists"
      default: break
      }
      guard value.kindIndex == values[0].kindIndex else {
        return "CloudKit keeps values of one kind in a list"
      }
      if let problem = problem(with: value, isEncrypted: isEncrypted) { return problem }
    }
    return nil
  }
}
#endif

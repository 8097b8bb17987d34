import CloudSyncCore

/// The numbers of accounts that requests came from, so that the next request's documents can be guessed.
///
/// A wrong guess costs time and nothing else.
final class AccountNumbers: Sendable {
  /// Above this number all are forgotten.
  private static let limit = 65_536

  /// Looked into, never iterated.
  private let numbers = Locked<[ByteKey: Int64]>([:])

  /// The number of an account, if it was seen.
  func number(of account: AccountIdentity) -> Int64? {
    numbers.withLock { $0[ByteKey(account.value)] }
  }

  /// Remembers the number of an account.
  func note(number: Int64, of account: AccountIdentity) {
    numbers.withLock { numbers in
      if numbers.count >= Self.limit { numbers.removeAll() }
      numbers[ByteKey(account.value)] = number
    }
  }
}

extension RequestFrame {
  /// The keys of the documents that a request is likely to read.
  func likelyKeys(kind: LocalCloudTransactionKind, accountNumber: Int64?) -> [String] {
    var keys = [AccountDocument.key(for: account), StoreCounters.key]
    if kind == .write, !options.hasSchemaPerAccount { keys.append(SchemaDocument.key) }
    guard let accountNumber else { return keys }
    if kind == .write, options.hasSchemaPerAccount {
      keys.append(SchemaDocument.key(account: accountNumber))
    }
    keys.append(ZoneDocument.key(account: accountNumber, zoneID: zoneID))
    if kind == .write, options.knowsWriteTokens {
      keys.append(AnswerDocument.key(account: accountNumber, device: device, zoneID: zoneID))
    }
    return keys
  }
}

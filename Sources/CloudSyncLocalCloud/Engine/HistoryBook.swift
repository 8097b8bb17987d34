import CloudSyncCore

/// Where the histories of accounts stood when this cloud last changed them.
///
/// It tells whether a change goes on from what this cloud has seen itself, or needs a mark.
final class HistoryBook: Sendable {
  private struct Entry: Sendable {
    var opening: UInt64
    var place: HistoryPlace
  }

  /// Above this number all are forgotten, which costs each account a mark.
  private static let limit = 65_536

  /// By the account's number; looked into, never iterated.
  private let entries = Locked<[Int64: Entry]>([:])

  /// Where an account's history stood last, in the same opening of the store.
  func place(ofAccount number: Int64, opening: UInt64) -> HistoryPlace? {
    entries.withLock { entries in
      entries[number].flatMap { $0.opening == opening ? $0.place : nil }
    }
  }

  /// Notes what a transaction that is committed has left.
  func note(_ pen: HistoryPen) {
    guard let written = pen.written else { return }
    let entry = Entry(opening: pen.opening, place: written.place)
    entries.withLock { entries in
      if let known = entries[written.account], !pen.hasNewMark, known.opening == entry.opening,
        known.place.position > entry.place.position
      {
        // Of two transactions the later one may be noted first.
        return
      }
      if entries.count >= Self.limit, entries[written.account] == nil { entries.removeAll() }
      entries[written.account] = entry
    }
  }
}

/// What one transaction does to an account's history.
final class HistoryPen {
  let book: HistoryBook
  /// The opening of the store that the transaction runs in.
  let opening: UInt64
  private let numbers: HistoryNumbers
  private var drawn = 0
  /// The mark under which the transaction makes its changes, once there is one.
  var mark: HistoryMark?
  /// Whether it is the transaction's own.
  var hasNewMark = false
  /// The mark before it, while that is not kept among the others.
  var unkept: HistoryMark?
  /// What the transaction has left, if it has made changes.
  var written: (account: Int64, place: HistoryPlace)?

  init(book: HistoryBook, opening: UInt64, numbers: HistoryNumbers) {
    self.book = book
    self.opening = opening
    self.numbers = numbers
  }

  /// The transaction's next random number.
  func nonce() -> UInt64 {
    drawn += 1
    return numbers.number(at: drawn - 1)
  }
}

/// The random numbers of a transaction: the same when its body runs again.
final class HistoryNumbers {
  private let nonce: @Sendable () -> UInt64
  private var numbers: [UInt64] = []

  init(_ nonce: @escaping @Sendable () -> UInt64) { self.nonce = nonce }

  func number(at index: Int) -> UInt64 {
    while numbers.count <= index { numbers.append(nonce()) }
    return numbers[index]
  }
}

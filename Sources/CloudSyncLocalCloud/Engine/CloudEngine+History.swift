import CloudSyncCore

extension CloudEngine {
  /// The account as it is to be changed: under a mark that this opening of the store has made, or seen to be made.
  ///
  /// Who has seen the end of a history goes on from there, under the marks of others too: nobody restores a store
  /// that is open. To be called before a change is counted.
  func marked(_ account: AccountDocument) throws(LocalCloudStoreError) -> AccountDocument {
    if let mark = pen.mark, mark == account.mark { return account }
    var account = account
    let known = pen.book.place(ofAccount: account.number, opening: pen.opening)
    if let known, try holds(known, in: account) {
      pen.mark = account.mark
      return account
    }
    pen.unkept = account.mark
    account.mark = HistoryMark(
      index: account.mark.index + 1,
      number: pen.nonce(),
      first: account.position + 1
    )
    pen.mark = account.mark
    pen.hasNewMark = true
    return account
  }

  /// Whether the account's history has a place: everything that was seen there is in it.
  func holds(
    _ place: HistoryPlace,
    in account: AccountDocument
  ) throws(LocalCloudStoreError) -> Bool {
    let last = account.mark
    if place.index == last.index {
      return place.number == last.number && place.position <= account.position
    }
    guard place.index >= 0, place.index < last.index,
      let mark = try mark(at: place.index, of: account), mark.number == place.number
    else { return false }
    let next = place.index + 1
    let end = next == last.index ? last : try self.mark(at: next, of: account)
    return end.map { place.position < $0.first } ?? false
  }

  /// One of the marks before the last; nil if it was forgotten.
  private func mark(
    at index: Int64,
    of account: AccountDocument
  ) throws(LocalCloudStoreError) -> HistoryMark? {
    let (number, place) = index.quotientAndRemainder(dividingBy: HistoryDocument.count)
    let marks = try history(account: account.number, number: number).marks
    guard place < marks.count, marks[Int(place)].index == index else { return nil }
    return marks[Int(place)]
  }

  private func history(
    account: Int64,
    number: Int64
  ) throws(LocalCloudStoreError) -> HistoryDocument {
    let key = HistoryDocument.key(account: account, number: number)
    if case .history(let history) = try store.document(key)?.content { return history }
    return HistoryDocument()
  }

  /// Keeps the mark that was the last one before this transaction's, and forgets those that are too old.
  func keepMark(of account: AccountDocument) throws(LocalCloudStoreError) {
    guard let mark = pen.unkept else { return }
    pen.unkept = nil
    let number = mark.index / HistoryDocument.count
    var history = try history(account: account.number, number: number)
    history.marks.append(mark)
    try store.setDocument(
      StoreDocument(.history(history)),
      for: HistoryDocument.key(account: account.number, number: number)
    )
    guard history.marks.count == 1, number >= options.historyDocumentLimit else { return }
    try store.removeDocument(
      HistoryDocument.key(account: account.number, number: number - options.historyDocumentLimit)
    )
  }

  // MARK: What devices were told

  /// What a response leaves with a device: how far the history has come.
  func historyToken(
    of account: AccountDocument,
    _ zone: ZoneDocument
  ) throws(LocalCloudStoreError) -> ChangeToken? {
    let counters = try counters()
    return start(of: zone, in: account, branch: counters.branch).token(counters.tokenSeal)
  }

  /// Why a request fails whose device was told what the history has not; nil if all that it shows is there.
  ///
  /// It is asked of every request before anything is done: whoever was told of a save would else take it for kept.
  func lostHistory(of account: AccountDocument) throws(LocalCloudStoreError) -> SyncError? {
    if frame.historyTokens.isEmpty { return nil }
    let counters = try counters()
    let present = account.place(of: frame.account)
    for token in frame.historyTokens {
      // Of what another cloud has given, or this one to another account, nothing can be said.
      guard let shown = FeedToken(token, sealedBy: counters.tokenSeal),
        shown.history.account == present.account
      else { continue }
      guard shown.branch == counters.branch, try holds(shown.history, in: account) else {
        return Self.lostHistory
      }
    }
    return nil
  }
}

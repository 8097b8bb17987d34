/// A response that may tell how far the cloud's history had come.
package protocol HistoryAnswer: Sendable {
  var historyToken: ChangeToken? { get set }
}

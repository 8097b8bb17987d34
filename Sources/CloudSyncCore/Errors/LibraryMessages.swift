/// The messages that the library itself gives errors.
///
/// They tell nothing about the user, so that an event log that hides what handlers and clouds say
/// still has them. An underscore stands for a number or a single word.
package enum LibraryMessages {
  static let all: [StaticString] = [
    "_ records in a row were refused",
    "_ records in a row were refused; the last error is _",
    "a _ was answered as a _",
    "a middleware has dropped the operation",
    "another account signed in",
    "the response does not fit the request",
    "the response says nothing about the request",
    "the responses say nothing about the record",
    "the response was lost, and the change was given up: it may be done",
    "the operation was cancelled, and its change goes on with another edit of the record",
    "the app dropped the record",
    "the app gave the zone up",
    "the change token did not advance over _ pages although more is to come",
    "the cloud never answered; the record may have been saved",
    "the conflict resolver did not resolve the conflict",
    "the fetch has more than _ pages",
    "the fetch was cancelled",
    "the handler did not answer in time",
    "the handler refused to create a subscription",
    "the handler refused to create the zone",
    "the operation has no name; put ModifyOperation.submitted(as:in:) in its place",
    "the operation was cancelled",
    "the record conflicted again and again",
    "the record does not exist",
    "the session was released",
    "the session was reset",
    "the session was stopped",
    "the storage is full; the save waits for the next probe",
    "the zone was created _ times and is still said to be missing",
  ]

  private static let patterns = all.map {
    "\($0)".utf8.split(separator: UInt8(ascii: " ")).map(Array.init)
  }

  /// Whether a message is one of the library's own.
  package static func contain(_ message: String) -> Bool {
    guard message.utf8.count <= 200 else { return false }
    let words = message.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    return patterns.contains { pattern in
      pattern.count == words.count && zip(pattern, words).allSatisfy(matches)
    }
  }

  private static func matches(pattern: [UInt8], word: Substring.UTF8View) -> Bool {
    guard pattern == [UInt8(ascii: "_")] else { return word.elementsEqual(pattern) }
    return !word.isEmpty && word.count <= 32
      && word.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "z")).contains($0) }
  }
}

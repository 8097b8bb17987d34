import CloudSyncCore

extension ChangesetID {
  /// The identifier of a commit with such a head and body.
  init(digestOf head: [UInt8], _ body: [UInt8]) { self.init(Digest(of: [head, body])) }

  /// How many bytes tell an identifier apart from those of all other commits of a history.
  static let beginningLength = 10

  /// What tells it apart in the list of a snapshot.
  var beginning: [UInt8] { Array(bytes.prefix(Self.beginningLength)) }
}

extension Digest {
  /// The SHA-256 of pieces of bytes, one after the other.
  init(of pieces: [[UInt8]]) {
    var digest = SHA256()
    for piece in pieces { piece.withUnsafeBufferPointer { digest.update($0) } }
    self.init(sha256: digest.finish())
  }
}

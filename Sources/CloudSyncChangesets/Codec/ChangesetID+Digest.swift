import CloudSyncCore

extension ChangesetID {
  /// The identifier of a commit with such a head and body.
  init(digestOf head: [UInt8], _ body: [UInt8]) { self.init(Digest(of: [head, body])) }
}

extension Digest {
  /// The SHA-256 of pieces of bytes, one after the other.
  init(of pieces: [[UInt8]]) {
    var digest = SHA256()
    for piece in pieces { piece.withUnsafeBufferPointer { digest.update($0) } }
    self.init(sha256: digest.finish())
  }
}

import CloudSyncCore
import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// The files of an account's assets.
///
/// A file has the name of its digest, which is computed while it is copied: what lies under a name is
/// what the name says, whole.
struct KeptAssetFolder {
  /// Why a file is not kept.
  enum Failure: Error {
    /// There is no such file, or it is no file to read.
    case missing
    /// Its bytes are not those of the digest and length.
    case different
    /// The folder cannot be written.
    case folder

    /// What the record of the asset fails with.
    var syncError: SyncError {
      switch self {
      case .missing: SyncError(.assetFileNotFound, "the file of an asset cannot be read")
      case .different:
        SyncError(.invalidArguments, "the file of an asset has other bytes than its digest says")
      case .folder: SyncError(.serviceUnavailable, "the file of an asset cannot be stored")
      }
    }
  }

  private static let pieceByteCount = 65_536

  let path: String

  init(path: String) { self.path = path }

  /// The folder of an account among those of all accounts.
  init(of account: AccountIdentity, in folder: String) {
    // A name of the user's choice never becomes a path.
    path = "\(folder)/\(Hexadecimal.text(of: SHA256.digest(of: Array(account.value.utf8))))"
  }

  /// An asset whose file is here.
  func kept(_ asset: Asset) -> Asset {
    let name = Hexadecimal.text(of: asset.sha256)
    return Asset(sha256: asset.sha256, byteCount: asset.byteCount, location: "\(path)/\(name)")
  }

  /// An asset that says where its file is: here, unless it is only where it was when it was saved.
  func located(_ asset: Asset) -> Asset {
    let kept = kept(asset)
    if kept.location == asset.location || byteCount(of: asset.sha256) != nil { return kept }
    return fileByteCount(path: asset.location) == nil ? kept : asset
  }

  /// Sees to it that an asset's file is here.
  func keep(_ asset: Asset) throws(Failure) {
    let target = kept(asset).location
    // A file of another length was damaged, as by a copy that broke off: a whole one takes its place.
    if byteCount(of: asset.sha256) == asset.byteCount, touch(target) { return }
    // Nobody waits for a pipe, and a path is one from the root.
    guard asset.location.utf8.first == UInt8(ascii: "/"), fileByteCount(path: asset.location) != nil
    else { throw .missing }
    let source = open(asset.location, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard source >= 0 else { throw .missing }
    defer { close(source) }
    try makeFile(at: target) { (copy) throws(Failure) in
      try Self.copy(from: source, to: copy, expecting: asset)
    }
  }

  /// Keeps bytes, and returns the asset that they are.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - replacing: Whether a file of that name and length is written anew.
  /// - Returns: The asset.
  /// - Throws: That the folder cannot be written.
  func keep(bytes: [UInt8], replacing: Bool = false) throws(Failure) -> Asset {
    let digest = SHA256.digest(of: bytes)
    let asset = kept(
      Asset(sha256: Data(digest), byteCount: Int64(bytes.count), location: "")
    )
    if !replacing, byteCount(of: asset.sha256) == asset.byteCount, touch(asset.location) {
      return asset
    }
    try makeFile(at: asset.location) { (copy) throws(Failure) in
      guard bytes.withUnsafeBufferPointer({ Self.writeAll($0, to: copy) }) else { throw .folder }
    }
    return asset
  }

  /// Whether the file of an asset is here, with the bytes that its name says.
  func isIntact(_ asset: Asset) -> Bool {
    guard byteCount(of: asset.sha256) == asset.byteCount else { return false }
    let source = open(kept(asset).location, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { return false }
    defer { close(source) }
    var digest = SHA256()
    var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
    while true {
      let count = read(source, &piece, Self.pieceByteCount)
      guard count >= 0 else { return false }
      if count == 0 { return digest.finish().elementsEqual(asset.sha256) }
      piece.withUnsafeBufferPointer { digest.update(UnsafeBufferPointer(rebasing: $0[..<count])) }
    }
  }

  /// The length of the file of a digest; nil if there is none.
  func byteCount(of sha256: Data) -> Int64? {
    let asset = Asset(sha256: sha256, byteCount: 0, location: "")
    return fileByteCount(path: kept(asset).location)
  }

  /// Notes that a file was looked for: it is not taken for one that nobody needs.
  ///
  /// - Returns: False if it has been taken for one just now, and is gone.
  private func touch(_ path: String) -> Bool {
    // The time of another user's file cannot be set; it is there all the same.
    utimensat(AT_FDCWD, path, nil, 0) == 0 || errno != ENOENT
  }

  /// Makes a file beside its place, and puts it there when it is whole.
  private func makeFile(
    at target: String,
    _ body: (Int32) throws(Failure) -> Void
  ) throws(Failure) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch { throw .folder }
    var template = Array("\(target).XXXXXX".utf8CString)
    let copy = mkstemp(&template)
    guard copy >= 0 else { throw .folder }
    defer { close(copy) }
    do throws(Failure) {
      try body(copy)
      // The record that names the file is on the disk when it is answered: the file has to be there before.
      guard FileSync.synchronize(descriptor: copy), rename(template, target) == 0,
        FileSync.synchronize(folder: path)
      else { throw .folder }
    } catch {
      unlink(template)
      throw error
    }
  }

  /// The length of a file; nil if there is none, or it is something else.
  private func fileByteCount(path: String) -> Int64? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  private static func copy(
    from source: Int32,
    to copy: Int32,
    expecting asset: Asset
  ) throws(Failure) {
    var digest = SHA256()
    var byteCount: Int64 = 0
    var piece = [UInt8](repeating: 0, count: pieceByteCount)
    while true {
      let count = read(source, &piece, pieceByteCount)
      guard count >= 0 else { throw .missing }
      if count == 0 { break }
      byteCount += Int64(count)
      guard byteCount <= asset.byteCount else { throw .different }
      let isWritten = piece.withUnsafeBufferPointer { bytes in
        let bytes = UnsafeBufferPointer(rebasing: bytes[..<count])
        digest.update(bytes)
        return writeAll(bytes, to: copy)
      }
      guard isWritten else { throw .folder }
    }
    guard byteCount == asset.byteCount, digest.finish().elementsEqual(asset.sha256) else {
      throw .different
    }
  }

  private static func writeAll(_ bytes: UnsafeBufferPointer<UInt8>, to file: Int32) -> Bool {
    var start = 0
    while start < bytes.count, let base = bytes.baseAddress {
      let count = write(file, base + start, bytes.count - start)
      guard count > 0 else { return false }
      start += count
    }
    return true
  }
}

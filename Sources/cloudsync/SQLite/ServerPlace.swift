import CloudSyncWebServices

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where a server is, and the token with which to come: from the environment or a file, never an argument, which
/// every user of the machine can read.
struct ServerPlace: Sendable {
  let address: WebServicesAddress
  let token: Secret

  private static let variable = "CLOUDSYNC_TOKEN"
  private static let limit = 4_096

  static let tokenFile = Command.Option(
    name: "--token-file",
    value: "FILE",
    help: "the file with the token for a server, mode 0600; else CLOUDSYNC_TOKEN has it"
  )

  /// Whether a text is an address, and no path of a file.
  static func isAddress(_ text: String) -> Bool {
    text.contains("://") || ["http:", "https:"].contains { text.lowercased().hasPrefix($0) }
  }

  /// Reads an address and finds the token; nothing that is refused is repeated, as there may be a secret in it.
  init(_ text: String, tokenFile: String?) throws {
    do throws(WebServicesAddress.Problem) { address = try WebServicesAddress(text) } catch {
      throw ToolError.usage("--cloud: \(error)")
    }
    let text = try tokenFile.map { try Self.read($0) } ?? Self.environment()
    var characters = Substring(text)
    while characters.last?.isWhitespace == true { characters.removeLast() }
    let isToken = characters.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    guard isToken, !characters.isEmpty else {
      throw ToolError.usage(
        "\(tokenFile ?? Self.variable) has no token: it is one word of letters, digits and signs"
      )
    }
    token = Secret(String(characters))
  }

  private static func environment() throws -> String {
    guard let text = ProcessInfo.processInfo.environment[variable] else {
      throw ToolError.usage(
        "a server wants a token: set \(variable), or name a file that only you may read with --token-file FILE"
      )
    }
    return text
  }

  private static func read(_ path: String) throws -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      throw ToolError.usage("--token-file: \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(file) }
    var facts = stat()
    guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      throw ToolError.usage("--token-file: \(path): it is no file")
    }
    guard facts.st_mode & 0o077 == 0 else {
      throw ToolError.usage(
        "--token-file: \(path): others may read it; say “chmod 600 \(path)”"
      )
    }
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = bytes.withUnsafeMutableBytes { Self.readSome(file, into: $0) }
    guard count >= 0 else {
      throw ToolError.usage("--token-file: \(path): \(String(cString: strerror(errno)))")
    }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  private static func readSome(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Glibc)
    Glibc.read(file, buffer.baseAddress, buffer.count)
    #elseif canImport(Musl)
    Musl.read(file, buffer.baseAddress, buffer.count)
    #else
    Darwin.read(file, buffer.baseAddress, buffer.count)
    #endif
  }
}

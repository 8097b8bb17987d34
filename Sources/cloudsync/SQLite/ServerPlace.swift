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
  /// The token of a server of one's own, or that of the API of a container of Apple's.
  let token: Secret
  /// Where the web token of Apple's service is kept; nil for a server of one's own.
  let webTokenFile: String?

  private static let variable = "CLOUDSYNC_TOKEN"
  private static let appleVariable = "CLOUDSYNC_API_TOKEN"
  private static let appleDomain = ".apple-cloudkit.com"
  private static let limit = 4_096

  static let tokenFile = Command.Option(
    name: "--token-file",
    value: "FILE",
    help: "the file with the token for a server, mode 0600; else CLOUDSYNC_TOKEN has it"
  )

  static let webTokenFile = Command.Option(
    name: "--web-token-file",
    value: "FILE",
    help:
      "where Apple's service's web token is kept, mode 0600; CLOUDSYNC_API_TOKEN has the container's"
  )

  /// Whether a text is an address, and no path of a file.
  static func isAddress(_ text: String) -> Bool {
    text.contains("://") || ["http:", "https:"].contains { text.lowercased().hasPrefix($0) }
  }

  /// The server that a command line names; nil if its cloud is a file.
  static func named(by cloud: String, in arguments: Arguments) throws -> ServerPlace? {
    let options = ["--token-file", "--web-token-file"]
    if isAddress(cloud) {
      return try ServerPlace(
        cloud,
        tokenFile: arguments.value(of: options[0]),
        webTokenFile: arguments.value(of: options[1])
      )
    }
    for name in options where arguments.has(name) {
      throw ToolError.usage("\(name) is for a server, and --cloud names a file")
    }
    return nil
  }

  /// Reads an address and finds the token; nothing that is refused is repeated, as there may be a secret in it.
  init(_ text: String, tokenFile: String?, webTokenFile: String?) throws {
    do throws(WebServicesAddress.Problem) { address = try WebServicesAddress(text) } catch {
      throw ToolError.usage("--cloud: \(error)")
    }
    self.webTokenFile = webTokenFile
    if webTokenFile != nil, tokenFile != nil {
      throw ToolError.usage(
        "--token-file is for a server, and --web-token-file for Apple's service"
      )
    }
    if webTokenFile == nil, address.origin.hasSuffix(Self.appleDomain) {
      throw ToolError.usage(
        "Apple's service wants --web-token-file FILE, where the user's web token is kept"
      )
    }
    let variable = webTokenFile == nil ? Self.variable : Self.appleVariable
    let text = try tokenFile.map { try Self.read($0) } ?? Self.environment(variable)
    var characters = Substring(text)
    while characters.last?.isWhitespace == true { characters.removeLast() }
    let isToken = characters.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    guard isToken, !characters.isEmpty else {
      throw ToolError.usage(
        "\(tokenFile ?? variable) has no token: it is one word of letters, digits and signs"
      )
    }
    token = Secret(String(characters))
  }

  private static func environment(_ name: String) throws -> String {
    guard let text = ProcessInfo.processInfo.environment[name] else {
      if name == appleVariable {
        throw ToolError.usage("Apple's service wants the token of the container's API: set \(name)")
      }
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

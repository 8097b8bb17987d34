import Foundation
import Testing

@Suite(
  "Whom the tool trusts",
  .enabled(if: FileManager.default.isExecutableFile(atPath: openSSL)),
  .serialized
)
struct TrustTests {
  /// Where the system keeps the authorities that it trusts.
  private static let authorities = "/etc/ssl/certs/ca-certificates.crt"

  /// Whether this machine lets a test put another file there, for one process.
  private static let canTrust: Bool = {
    let script = "mount --bind /dev/null \(authorities)"
    return (try? Run("/usr/bin/env", ["unshare", "-Urm", "sh", "-c", script]))?.code == 0
  }()

  private let folder: Folder

  init() throws {
    folder = try Folder("trust")
    for name in ["ca", "server"] {
      try run("ecparam -name prime256v1 -genkey -noout -out \(name).key")
    }
    try run("req -x509 -new -key ca.key -subj /CN=ca -days 2 -out ca.pem")
  }

  /// Runs OpenSSL's program; words with a point are files of the folder.
  private func run(_ words: String) throws {
    let words = words.split(separator: " ").map(String.init)
    let run = try Run(openSSL, words.map { Self.files.contains($0) ? folder.path($0) : $0 })
    guard run.code == 0 else { throw TestFailure("\(words): \(run.errors)") }
  }

  private static let files: Set<String> = [
    "ca.key", "ca.pem", "server.key", "server.csr", "server.pem",
  ]

  /// A server whose certificate the bench's authority has signed, and a tool that is to synchronize with it.
  ///
  /// - Parameters:
  ///   - host: The name in the certificate; the server is on localhost.
  ///   - days: How long the certificate is good; negative for one that has ended.
  ///   - isTrusted: Whether the tool trusts the authority.
  /// - Returns: Both.
  /// - Throws: That one of them does not start.
  private func start(
    host: String,
    days: Int,
    isTrusted: Bool
  ) throws -> (server: Running, tool: Running) {
    try run(
      "req -new -key server.key -subj /CN=\(host) -addext subjectAltName=DNS:\(host) -out server.csr"
    )
    try run(
      "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days \(days)"
        + " -copy_extensions copy -out server.pem"
    )
    let server = try Running(
      openSSL,
      [
        "s_server", "-accept", "127.0.0.1:0", "-cert", folder.path("server.pem"), "-key",
        folder.path("server.key"),
      ],
      hasOpenInput: true
    )
    let pattern = /ACCEPT 127\.0\.0\.1:(\d+)\n/
    try server.wait { $0.output.contains(pattern) }
    let port = try #require(server.output.firstMatch(of: pattern)?.1)
    let database = folder.path("a.db")
    let made = try Run(
      "/usr/bin/env",
      ["sqlite3", database, "CREATE TABLE items(id TEXT PRIMARY KEY NOT NULL)"]
    )
    #expect(made.code == 0, "\(made.errors)")
    let words = [
      Program.tool, "sync", database, "--all", "--create", "--cloud", "https://localhost:\(port)",
    ]
    let script = "mount --bind \"$0\" \(Self.authorities) && exec \"$@\""
    let starter =
      isTrusted ? ["unshare", "-Urm", "sh", "-c", script, folder.path("ca.pem")] : []
    let tool = try Running(
      "/usr/bin/env",
      starter + words,
      environment: ["CLOUDSYNC_TOKEN": "secret-token"]
    )
    return (server, tool)
  }

  private func expectRefusal(host: String, days: Int, isTrusted: Bool) throws {
    let (server, tool) = try start(host: host, days: days, isTrusted: isTrusted)
    try tool.wait { $0.errors.contains("waiting for https://localhost") }
    #expect(
      tool.errors.contains("networkFailure") && tool.errors.contains("certificate"),
      "\(tool.errors)"
    )
    // Both end with the test.
    #expect(!server.output.contains("secret-token"), "\(server.output)")
  }

  @Test("53. A certificate of nobody known: 4 with that word, no token sent")
  func unknown() throws { try expectRefusal(host: "localhost", days: 2, isTrusted: false) }

  // Apart from the one above, so that a machine that cannot try them says so.
  @Test(
    "53. One of a known authority, with another name or from former times: 4, no token sent",
    .enabled(if: canTrust),
    arguments: [("example.org", 2), ("localhost", -1)]
  )
  func refused(host: String, days: Int) throws {
    try expectRefusal(host: host, days: days, isTrusted: true)
  }

  @Test(
    "53. One of a known authority, with the name and for these days, gets the request",
    .enabled(if: canTrust)
  )
  func trusted() throws {
    let (server, tool) = try start(host: "localhost", days: 2, isTrusted: true)
    try server.wait { $0.output.contains("Bearer secret-token") }
    #expect(tool.errors == "")
  }
}

private let openSSL = "/usr/bin/openssl"

import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Answers that come after a rebuilt table was compared")
struct LateAnswerTests {
  /// Loses the first answer to a save.
  private final class ForgetfulHandler: WorkHandler {
    private let handler: any OperationHandler
    private let isForgetting = Locked(true)

    init(_ handler: any OperationHandler) { self.handler = handler }

    func handle(_ work: SyncWork, context: RequestContext, completion: @escaping Completion) {
      guard case .modify = work, isForgetting.withLock({ $0 }) else {
        return handler.perform(work, context: context, completion: completion)
      }
      isForgetting.withLock { $0 = false }
      handler.perform(work, context: context) { _ in
        completion(.failure(SyncError(.networkFailure)))
      }
    }
  }

  @Test("A row that was compared before its save is acknowledged is no difference")
  func compared() async throws {
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let bench = SyncHarness()
    let mac = try bench.device("mac", schema, tables: ["notes"])
    bench.handler = { ForgetfulHandler($0) }
    let phone = try bench.device(
      "phone",
      schema + "; INSERT INTO notes VALUES('p', 'P')",
      tables: ["notes"]
    )
    try mac.execute("INSERT INTO notes VALUES('m', 'M')")
    try phone.execute("INSERT INTO notes VALUES('c', 'C')")
    try bench.sync(mac)
    try SyncEngine.withoutCapture(of: ["notes"], in: phone.database) {
      try phone.database.execute(
        """
        CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT);
        INSERT INTO fresh SELECT * FROM notes;
        DROP TABLE notes;
        ALTER TABLE fresh RENAME TO notes;
        """
      )
    }
    try bench.restart(phone, ["notes"])
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT id FROM notes ORDER BY id") == ["'c'", "'m'", "'p'"])
    #expect(
      try mac.lines("SELECT * FROM notes ORDER BY id")
        == phone.lines("SELECT * FROM notes ORDER BY id")
    )
    for device in [mac, phone] {
      #expect(try await device.engine.verify().differences.isEmpty, "\(device.name)")
    }
  }
}

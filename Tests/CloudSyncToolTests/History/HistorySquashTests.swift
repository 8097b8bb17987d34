import CloudSyncSQLite
import Testing

@testable import cloudsync

@Suite("cloudsync history squash and rebase")
struct HistorySquashTests {
  @Test("The cloud's history begins with a snapshot; a copy with commits from before is rebased")
  func squashing() throws {
    try ToolHarness.run { bench in
      let (shop, phone, cloud) = (
        bench.path("shop.db"), bench.path("phone.db"), bench.path("cloud")
      )
      let run = { HistoryToolTests.run($0, code: $1) }
      let place = { (device: String) in ["--cloud", cloud, "--device", device] }
      try HistoryToolTests.edit(
        bench,
        "shop.db",
        "CREATE TABLE customers(id TEXT PRIMARY KEY NOT NULL, name TEXT, since INTEGER); INSERT INTO customers VALUES('c7', 'Ada', 2019)"
      )
      _ = run(["init", shop, "--all", "--replica", "desk"], 0)
      _ = run(["sync", shop, "--create"] + place("desk"), 0)
      #expect(run(["squash", shop] + place("desk"), 0).output.hasPrefix("nothing to squash"))
      for number in 1...5 {
        try HistoryToolTests.edit(bench, "shop.db", "UPDATE customers SET since = \(number)")
        _ = run(["sync", shop, "-m", "Number \(number)"] + place("desk"), 0)
      }
      _ = run(["clone", phone, "--replica", "phone"] + place("phone"), 0)
      try HistoryToolTests.edit(bench, "phone.db", "UPDATE customers SET name = 'Ada L.'")
      _ = run(["commit", phone, "-m", "Married"], 0)
      // The desk knows nothing of the phone yet.
      let line = run(["squash", shop, "--depth", "0"] + place("desk"), 0).output
      #expect(line.contains("the history in the cloud begins with") && line.contains("5 records"))
      let error = run(["sync", phone] + place("phone"), 0).errors
      #expect(error == "")
      try HistoryToolTests.edit(bench, "shop.db", "UPDATE customers SET since = 9")
      _ = run(["sync", shop] + place("desk"), 0)
      let other = bench.path("other.db")
      try HistoryToolTests.edit(
        bench,
        "other.db",
        "CREATE TABLE customers(id TEXT PRIMARY KEY NOT NULL, name TEXT, since INTEGER); INSERT INTO customers VALUES('c8', 'Bob', 2020)"
      )
      _ = run(["init", other, "--all", "--replica", "other"], 0)
      let behind = run(["sync", other] + place("other"), 1).errors
      #expect(behind.contains("“cloudsync history rebase \(other) --cloud …”"))
      #expect(run(["status", other], 0).output.contains("1 head from before a squash"))
      #expect(run(["rebase", other] + place("other"), 0).output.hasPrefix("[main "))
      #expect(!run(["status", other], 0).output.contains("squash"))
      #expect(run(["rebase", other] + place("other"), 0).output == "nothing to rebase\n")
      for (path, device) in [(other, "other"), (shop, "desk"), (phone, "phone")] {
        _ = run(["sync", path] + place(device), 0)
        _ = run(["verify", path], 0)
      }
      let waiting = run(["squash", shop, "--depth", "0", "--json"] + place("desk"), 0).output
      #expect(waiting.contains("\"beginning\"") && waiting.contains("\"waitingFor\""))
      _ = run(["squash", shop, "--depth", "x"] + place("desk"), 2)
      _ = run(["squash", shop], 2)
    }
  }

  @Test("What a lost device has left behind is told of, and rebased by another")
  func rebasingOthers() throws {
    try ToolHarness.run { bench in
      let (shop, lost, cloud) = (bench.path("shop.db"), bench.path("lost.db"), bench.path("cloud"))
      let run = { HistoryToolTests.run($0, code: $1) }
      let place = { (device: String) in ["--cloud", cloud, "--device", device] }
      try HistoryToolTests.edit(
        bench,
        "shop.db",
        "CREATE TABLE customers(id TEXT PRIMARY KEY NOT NULL, name TEXT); INSERT INTO customers VALUES('c7', 'Ada')"
      )
      _ = run(["init", shop, "--all", "--replica", "desk"], 0)
      _ = run(["sync", shop, "--create"] + place("desk"), 0)
      _ = run(["clone", lost, "--replica", "lost"] + place("lost"), 0)
      for number in 1...5 {
        try HistoryToolTests.edit(
          bench,
          "shop.db",
          "INSERT INTO customers VALUES('\(number)', 'N')"
        )
        _ = run(["sync", shop] + place("desk"), 0)
      }
      // The desk has squashed before it hears of the other's commit, which has not heard of that.
      try HistoryToolTests.edit(bench, "lost.db", "UPDATE customers SET name = 'Ada L.'")
      _ = run(["commit", lost, "-m", "Married"], 0)
      _ = run(["squash", shop, "--depth", "0"] + place("desk"), 0)
      _ = run(["push", lost] + place("lost"), 0)
      #expect(run(["rebase", shop] + place("desk"), 0).output == "nothing to rebase\n")
      let words =
        "1 commit of “lost” goes on from before a squash; “cloudsync history rebase --others”"
      #expect(run(["status", shop], 0).output.contains(words))
      #expect(run(["log", shop], 0).errors.contains(words))
      #expect(run(["status", shop, "--json"], 0).output.contains("\"leftBehind\" : 1"))
      _ = run(["rebase", shop, "--branch", "main"] + place("desk"), 2)
      _ = run(["rebase", shop, "--others", "--branch", "x"] + place("desk"), 1)

      let made = run(["rebase", shop, "--others", "--branch", "main"] + place("desk"), 0).output
      #expect(made.hasPrefix("[main ") && made.hasSuffix("rebased from 1 commit: Married\n"))
      #expect(!run(["status", shop], 0).output.contains("squash"))
      #expect(
        run(["log", shop, "--count", "1"], 0).output.contains("lost  (HEAD → main)  Married")
      )
      #expect(run(["show", shop], 0).output.contains("rebased from "))
      #expect(run(["log", shop, "--count", "1", "--json"], 0).output.contains("\"originals\""))
      _ = run(["sync", shop] + place("desk"), 0)
      // The other comes back after all, and goes along.
      _ = run(["sync", lost] + place("lost"), 0)
      #expect(run(["rebase", lost, "--others"] + place("lost"), 0).output == "nothing to rebase\n")
      #expect(run(["log", lost, "--count", "1"], 0).output.contains("Married"))
    }
  }
}

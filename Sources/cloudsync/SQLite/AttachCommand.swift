/// `cloudsync attach`: a database that was synced with another cloud, or one that has lost changes, joins a cloud.
enum AttachCommand {
  static var command: Command {
    Command(
      path: ["attach"],
      summary: "Merge a synced database with another, a restored or a new cloud.",
      operands: ["DATABASE"],
      options: SyncCommand.placeOptions + [
        .init(
          name: "--merge",
          help: "merge this copy's rows with the cloud's, column by column",
          isRequired: true
        ),
        .init(name: "--dry-run", help: "show what would be done, and change nothing"),
      ] + SyncCommand.commonOptions,
      discussion: """
        Use it when “cloudsync sync” says that the cloud is missing, was restored from an older backup, or is
        another one than before. Everything in the cloud is fetched, rows that both have are merged column by
        column, and what the cloud lacks is uploaded. Where both have another value in a column, one of them is
        replaced: the older, or this copy's if it was never edited here. Rows that other copies have deleted are
        deleted here too. --dry-run lists what would be replaced and deleted. What this copy has deleted, and has told its former cloud, stays
        in another one; a deletion that was not sent yet is sent to it.

        If the cloud is lost, add --create for the first copy that is attached, and only for that one.
        """,
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    guard arguments.has("--merge") else {
      throw ToolError.usage(
        "say --merge: this copy's rows and the cloud's are merged column by column; --dry-run shows what changes"
      )
    }
    try SyncCommand.run(with: arguments, isAttaching: true, console: console)
  }
}

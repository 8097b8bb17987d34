/// `cloudsync attach`: a database that was synced with another cloud, or one that has lost changes, joins a cloud.
enum AttachCommand {
  static var command: Command {
    Command(
      path: ["attach"],
      summary: "Join a synced database with another, a restored or a new cloud; no row is lost.",
      operands: ["DATABASE"],
      options: SyncCommand.placeOptions + [
        .init(
          name: "--merge",
          help: "merge this copy's rows with the cloud's: both keep what they have",
          isRequired: true
        ),
        .init(name: "--dry-run", help: "tell what would be done, and do nothing"),
      ] + SyncCommand.commonOptions,
      discussion: """
        Use it when “cloudsync sync” says that the cloud is missing, was restored from an older backup, or is
        another one than before. Everything in the cloud is fetched, rows that both have are merged column by
        column, and what the cloud lacks is uploaded. Rows that were deleted in the cloud after they were
        created are deleted here too; --dry-run names them. What this copy had deleted in its former cloud
        stays in another one.

        For a cloud that is gone add --create, once, with the first copy. Every other copy is attached
        without it.
        """,
      run: run
    )
  }

  private static func run(with arguments: Arguments, console: Console) throws {
    guard arguments.has("--merge") else {
      throw ToolError.usage(
        "say --merge: this copy's rows and the cloud's are merged, and neither loses any"
      )
    }
    try SyncCommand.run(with: arguments, isAttaching: true, console: console)
  }
}

import CloudSyncServer
import Foundation

exit(await ServerCommand.run(Array(CommandLine.arguments.dropFirst())))

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

// A reader that goes away, as `head` does, is no error.
signal(SIGPIPE, SIG_DFL)
exit(Tool.run(with: Array(CommandLine.arguments.dropFirst()), console: Console.standard))

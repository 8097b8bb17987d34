import Foundation

/// The program.
@main
struct ShoppingTool {
  static func main() async {
    guard CommandLine.arguments.dropFirst() == ["demo"] else {
      FileHandle.standardError.write(Data("usage: shopping demo\n".utf8))
      exit(2)
    }
    do {
      guard try await Demo().run() else {
        print("\nThey differ.")
        exit(1)
      }
      print("\nBoth are equal.")
    } catch {
      FileHandle.standardError.write(Data("shopping: error: \(error)\n".utf8))
      exit(1)
    }
  }
}

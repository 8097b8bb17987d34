// Needs macOS 15: were this accepted, availability would not be checked.
func canary() { _ = String(validating: [] as [UInt8], as: UTF8.self) }

/// A value that a closure changes.
final class Box<Value>: @unchecked Sendable {
  // It is unchecked because the benchmark's world has one thread.
  var value: Value

  init(_ value: Value) { self.value = value }
}

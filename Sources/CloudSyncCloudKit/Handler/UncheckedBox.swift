#if canImport(CloudKit)
/// An object of CloudKit's that goes from thread to thread.
///
/// It is `@unchecked Sendable` because Apple documents databases, containers and the cancelling of operations as
/// safe from any thread, while not every SDK declares these classes so. Nothing else goes into a box.
struct UncheckedBox<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
#endif

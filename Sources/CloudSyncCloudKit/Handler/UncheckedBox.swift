#if canImport(CloudKit)
/// An object of the system's that goes from thread to thread: a database, a container, an operation to be cancelled, a
/// token of the notification center.
///
/// Nothing else goes into a box. It is `@unchecked Sendable` because Apple documents these as safe from any thread, while
/// not every SDK declares them so.
struct UncheckedBox<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
#endif

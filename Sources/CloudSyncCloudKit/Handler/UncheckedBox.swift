#if canImport(CloudKit)
/// An object of the system's that goes from thread to thread: a database, a container, an operation to be cancelled, a
/// token of the notification center.
///
/// Nothing else goes into a box. Apple documents these as safe from any thread, and not every SDK declares them so:
/// it is `@unchecked Sendable` because the documentation says it.
struct UncheckedBox<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
#endif

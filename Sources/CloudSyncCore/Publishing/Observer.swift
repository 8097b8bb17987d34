/// The receiving end of a subscription.
package struct Observer<Output: Sendable>: Sendable {
  /// Takes the next value.
  package let receive: @Sendable (Output) -> Void
  /// Is called once when no value can come any more, because the subject is gone; not on cancel.
  package let finish: (@Sendable () -> Void)?

  package init(
    receive: @escaping @Sendable (Output) -> Void,
    finish: (@Sendable () -> Void)? = nil
  ) {
    self.receive = receive
    self.finish = finish
  }
}

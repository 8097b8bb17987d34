/// A value kept in one heap box, copied when it is changed while the box is shared.
///
/// A large value in such a box costs one reference count to copy and one word to hold. Whoever
/// keeps a copy never sees a later change.
package struct CopyOnWrite<Value: Sendable>: Sendable {
  @usableFromInline
  // It is @unchecked because `value` is changed only by the one owner of an unshared box.
  final class Box: @unchecked Sendable {
    // The struct's own exclusive access covers this property too.
    @exclusivity(unchecked) @usableFromInline var value: Value

    @usableFromInline init(_ value: Value) { self.value = value }

    // The copy is made in its place. Compiled for the type it would go by way of two variables,
    // which costs more than looking the type up.
    @_semantics("optimize.sil.specialize.generic.never")
    @inline(never)
    @usableFromInline init(copying other: Box) { value = other.value }
  }

  @usableFromInline var box: Box

  @inlinable package init(_ value: Value) { box = Box(value) }

  /// The value; changed in place where nobody else holds the box.
  @inlinable package var value: Value {
    get { box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(copying: box) }
      yield &box.value
    }
  }

  /// Tells whether both are the same box, hence certainly equal: a short cut before `==`.
  @inlinable package func sharesStorage(with other: CopyOnWrite) -> Bool { box === other.box }
}

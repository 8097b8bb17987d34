#if canImport(Darwin)
package import Darwin
#elseif canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Bionic)
package import Bionic
#endif

/// A value behind a lock, the only shared mutable memory of the package.
///
/// `Synchronization.Mutex` is not used: it needs newer systems than the package supports, and the
/// thread sanitizer reports false races through it on Linux. The lock is not recursive: calling
/// ``withLock(_:)`` from inside the body traps on Darwin and in debug builds, and hangs elsewhere.
/// Never call a handler, a subscriber or any other foreign code inside the body.
///
/// It is `@unchecked Sendable` because every access to the value is under the lock.
package final class Locked<Value>: @unchecked Sendable {
  #if canImport(Darwin)
  @usableFromInline typealias Lock = os_unfair_lock
  #else
  @usableFromInline typealias Lock = pthread_mutex_t
  #endif

  /// The lock and the value it guards, in one block of memory whose address never changes.
  @usableFromInline
  struct Storage {
    @usableFromInline var lock: Lock
    @usableFromInline var value: Value
  }

  @usableFromInline let storage: UnsafeMutablePointer<Storage>

  package init(_ value: sending Value) {
    storage = .allocate(capacity: 1)
    storage.initialize(to: Storage(lock: Lock(), value: value))
    #if !canImport(Darwin)
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    #if DEBUG
    let kind = Int32(PTHREAD_MUTEX_ERRORCHECK)
    pthread_mutexattr_settype(&attributes, kind)
    #endif
    pthread_mutex_init(&storage.pointee.lock, &attributes)
    pthread_mutexattr_destroy(&attributes)
    #endif
  }

  deinit {
    #if !canImport(Darwin)
    pthread_mutex_destroy(&storage.pointee.lock)
    #endif
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  /// Calls the body with exclusive access to the value, and returns what it returns.
  @inlinable @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock()
    defer { unlock() }
    return try body(&storage.pointee.value)
  }

  @inlinable @inline(__always)
  func lock() {
    #if canImport(Darwin)
    os_unfair_lock_lock(&storage.pointee.lock)
    #else
    let code = pthread_mutex_lock(&storage.pointee.lock)
    assert(code == 0, "The lock is already held: do not call withLock inside its own body.")
    #endif
  }

  @inlinable @inline(__always)
  func unlock() {
    #if canImport(Darwin)
    os_unfair_lock_unlock(&storage.pointee.lock)
    #else
    pthread_mutex_unlock(&storage.pointee.lock)
    #endif
  }
}

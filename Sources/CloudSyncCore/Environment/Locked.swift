#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
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
  private typealias Lock = os_unfair_lock
  #else
  private typealias Lock = pthread_mutex_t
  #endif

  // Both lie in one block of memory whose address never changes. There is a pointer to each, because
  // to compute where one of them is takes a look at the type, which other modules pay at every call.
  private let mutex: UnsafeMutablePointer<Lock>
  private let value: UnsafeMutablePointer<Value>

  package init(_ value: sending Value) {
    let alignment = max(MemoryLayout<Lock>.alignment, MemoryLayout<Value>.alignment)
    let offset = (MemoryLayout<Lock>.size + alignment - 1) / alignment * alignment
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: offset + MemoryLayout<Value>.size,
      alignment: alignment
    )
    mutex = block.initializeMemory(as: Lock.self, to: Lock())
    self.value = (block + offset).initializeMemory(as: Value.self, to: value)
    #if !canImport(Darwin)
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    #if DEBUG
    let kind = Int32(PTHREAD_MUTEX_ERRORCHECK)
    pthread_mutexattr_settype(&attributes, kind)
    #endif
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
    #endif
  }

  deinit {
    #if !canImport(Darwin)
    pthread_mutex_destroy(mutex)
    #endif
    value.deinitialize(count: 1)
    UnsafeMutableRawPointer(mutex).deallocate()
  }

  /// Calls the body with exclusive access to the value, and returns what it returns.
  @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock()
    defer { unlock() }
    return try body(&value.pointee)
  }

  @inline(__always)
  private func lock() {
    #if canImport(Darwin)
    os_unfair_lock_lock(mutex)
    #else
    let code = pthread_mutex_lock(mutex)
    assert(code == 0, "The lock is already held: do not call withLock inside its own body.")
    #endif
  }

  @inline(__always)
  private func unlock() {
    #if canImport(Darwin)
    os_unfair_lock_unlock(mutex)
    #else
    pthread_mutex_unlock(mutex)
    #endif
  }
}

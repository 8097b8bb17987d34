// Apple documents these declarations; Declarations.md names the pages.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverUseImplicitlyUnwrappedOptionals

public import Foundation

public class CKOperation: NSObject {
  public var configuration: CKOperation.Configuration! = CKOperation.Configuration()
  public var group: CKOperationGroup?
  private let lock = NSLock()
  private var isGivenUp = false
  private var onCancel: (@Sendable () -> Void)?

  override public init() {}

  public func cancel() {
    let action = lock.withLock {
      defer { onCancel = nil }
      isGivenUp = true
      return onCancel
    }
    action?()
  }

  /// Whether it was cancelled.
  @_spi(Stub) public var _isCancelled: Bool { lock.withLock { isGivenUp } }

  /// Calls a function when it is cancelled; at once if it was.
  @_spi(Stub) public func _whenCancelled(_ action: @escaping @Sendable () -> Void) {
    let isLate = lock.withLock {
      if !isGivenUp { onCancel = action }
      return isGivenUp
    }
    if isLate { action() }
  }

  public class Configuration: NSObject {
    public var qualityOfService = QualityOfService.default
    public var timeoutIntervalForRequest: TimeInterval = 60
    public var timeoutIntervalForResource: TimeInterval = 604_800
    public var allowsCellularAccess = true

    override public init() {}
  }
}

public class CKOperationGroup: NSObject {
  public var name: String?

  override public init() {}
}

public class CKDatabaseOperation: CKOperation {}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// A stub of what the package uses of Combine. Like Apple's, built without strict concurrency.
public protocol CustomCombineIdentifierConvertible {}
public protocol Cancellable { func cancel() }
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
  func request(_ demand: Subscribers.Demand)
}

public enum Subscribers {
  @frozen public struct Demand: Equatable, Comparable, Hashable, Codable {
    @usableFromInline let rawValue: UInt
    @inlinable init(rawValue: UInt) { self.rawValue = rawValue }
    public static var unlimited: Demand { .init(rawValue: .max) }
    public static var none: Demand { .init(rawValue: 0) }
    public static func max(_ value: Int) -> Demand { .init(rawValue: UInt(value)) }
    public static func + (a: Demand, b: Demand) -> Demand { a }
    public static func += (a: inout Demand, b: Demand) {}
    public static func - (a: Demand, b: Int) -> Demand { a }
    public static func -= (a: inout Demand, b: Int) {}
    public static func > (a: Demand, b: Int) -> Bool { true }
    public static func < (a: Demand, b: Demand) -> Bool { true }
    public static func > (a: Demand, b: Demand) -> Bool { true }
  }
  @frozen public enum Completion<Failure: Error> { case finished, failure(Failure) }
}

public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
  associatedtype Input
  associatedtype Failure: Error
  func receive(subscription: any Subscription)
  func receive(_ input: Input) -> Subscribers.Demand
  func receive(completion: Subscribers.Completion<Failure>)
}

public protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error
  func receive<S>(subscriber: S)
  where S: Subscriber, Self.Failure == S.Failure, Self.Output == S.Input
}

public protocol Subject<Output, Failure>: AnyObject, Publisher {}
@frozen public struct AnyPublisher<Output, Failure: Error>: Publisher {
  public init<P: Publisher>(_ p: P) where P.Output == Output, P.Failure == Failure {}
  public func receive<S>(subscriber: S)
  where S: Subscriber, Failure == S.Failure, Output == S.Input {}
}

extension Publisher {
  public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { .init(self) }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
  public var combineIdentifier: Int { 0 }
}

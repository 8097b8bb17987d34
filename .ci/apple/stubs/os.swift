// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// A stub of os.Logger.
@_exported import Darwin
@available(macOS 11.0, iOS 14.0, watchOS 7.0, tvOS 14.0, *)
public struct OSLogPrivacy: Sendable {
  public static var `public`: OSLogPrivacy { .init() }
  public static var auto: OSLogPrivacy { .init() }
  public static var `private`: OSLogPrivacy { .init() }
}

@available(macOS 11.0, iOS 14.0, watchOS 7.0, tvOS 14.0, *)
public struct OSLogInterpolation: StringInterpolationProtocol {
  public init(literalCapacity: Int, interpolationCount: Int) {}
  public mutating func appendLiteral(_ literal: String) {}
  public mutating func appendInterpolation(
    _ value: @autoclosure @escaping () -> String,
    privacy: OSLogPrivacy = .auto
  ) {}
  public mutating func appendInterpolation<T: FixedWidthInteger>(
    _ value: @autoclosure @escaping () -> T,
    privacy: OSLogPrivacy = .auto
  ) {}
}

@available(macOS 11.0, iOS 14.0, watchOS 7.0, tvOS 14.0, *)
public struct OSLogMessage: ExpressibleByStringInterpolation, ExpressibleByStringLiteral {
  public init(stringInterpolation: OSLogInterpolation) {}
  public init(stringLiteral: String) {}
}

@available(macOS 11.0, iOS 14.0, watchOS 7.0, tvOS 14.0, *)
public struct Logger: @unchecked Sendable {
  public init(subsystem: String, category: String) {}
  public func debug(_ message: OSLogMessage) {}
  public func info(_ message: OSLogMessage) {}
  public func error(_ message: OSLogMessage) {}
}

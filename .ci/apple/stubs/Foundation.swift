// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// A stub of what the package uses of Apple's Foundation, with the availability of Apple's SDK.
@_exported import Darwin
@_exported import Dispatch
public typealias TimeInterval = Double
public struct Date: Hashable, Comparable, Codable, Sendable {
  public init() {}
  public init(timeIntervalSinceReferenceDate: TimeInterval) {}
  public init(timeIntervalSince1970: TimeInterval) {}
  public var timeIntervalSinceReferenceDate: TimeInterval { 0 }
  public var timeIntervalSince1970: TimeInterval { 0 }
  public static var now: Date { Date() }
  public static func < (a: Date, b: Date) -> Bool { false }
  public func timeIntervalSince(_ other: Date) -> TimeInterval { 0 }
  public static let distantPast = Date()
  public static let distantFuture = Date()
}

public struct UUID: Hashable, Codable, Sendable, CustomStringConvertible {
  public init() {}
  public init?(uuidString: String) {}
  public var uuidString: String { "" }
  public var description: String { "" }
  public typealias T = (
    UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8,
    UInt8, UInt8, UInt8
  )
  public init(uuid: T) {}
  public var uuid: T { (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) }
  public static func == (a: UUID, b: UUID) -> Bool { true }
  public func hash(into: inout Hasher) {}
  public init(from: any Decoder) throws {}
  public func encode(to: any Encoder) throws {}
}

public struct Decimal: Hashable, Comparable, Codable, Sendable, CustomStringConvertible,
  SignedNumeric, ExpressibleByFloatLiteral, Strideable
{
  public typealias Magnitude = Decimal
  public init() {}
  public init(_ v: Int64) {}
  public init(_ v: UInt64) {}
  public init(_ v: Int) {}
  public init(_ v: Double) {}
  public init?<T: BinaryInteger>(exactly: T) {}
  public init(integerLiteral: Int) {}
  public init(floatLiteral: Double) {}
  public init?(string: String, locale: Locale? = nil) {}
  public var description: String { "" }
  public var isNaN: Bool { false }
  public var magnitude: Decimal { self }
  public static func + (a: Decimal, b: Decimal) -> Decimal { a }
  public static func - (a: Decimal, b: Decimal) -> Decimal { a }
  public static func * (a: Decimal, b: Decimal) -> Decimal { a }
  public static func += (a: inout Decimal, b: Decimal) {}
  public static func -= (a: inout Decimal, b: Decimal) {}
  public static func *= (a: inout Decimal, b: Decimal) {}
  public static func < (a: Decimal, b: Decimal) -> Bool { false }
  public func distance(to: Decimal) -> Decimal { self }
  public func advanced(by: Decimal) -> Decimal { self }
}

public struct Locale: Hashable, Sendable {}
public struct URL: Hashable, Codable, Sendable, CustomStringConvertible {
  public init?(string: String) {}
  public init(fileURLWithPath: String) {}
  @available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
  public enum DirectoryHint: Sendable {
    case isDirectory, notDirectory, checkFileSystem, inferFromPath
  }
  @available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
  public init(
    filePath: String,
    directoryHint: DirectoryHint = .inferFromPath,
    relativeTo: URL? = nil
  ) {}
  public var path: String { "" }
  public var absoluteString: String { "" }
  public var lastPathComponent: String { "" }
  public var description: String { "" }
}

public struct Data: Hashable, Codable, Sendable, RandomAccessCollection, MutableCollection,
  RangeReplaceableCollection
{
  public typealias Index = Int
  public struct Base64EncodingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
  }
  public struct Base64DecodingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
  }
  public struct ReadingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let alwaysMapped = ReadingOptions(rawValue: 8)
  }
  public struct WritingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let atomic = WritingOptions(rawValue: 1)
  }
  public init() {}
  public init(capacity: Int) {}
  public init(count: Int) {}
  public init(repeating: UInt8, count: Int) {}
  public init<S: Sequence>(_ s: S) where S.Element == UInt8 {}
  public init(bytes: UnsafeRawPointer, count: Int) {}
  public init(contentsOf: URL, options: ReadingOptions = []) throws {}
  public init(referencing: NSData) {}
  public init?(base64Encoded: String, options: Base64DecodingOptions = []) {}
  public init?(base64Encoded: Data, options: Base64DecodingOptions = []) {}
  public func base64EncodedData(options: Base64EncodingOptions = []) -> Data { self }
  public func base64EncodedString(options: Base64EncodingOptions = []) -> String { "" }
  public func write(to: URL, options: WritingOptions = []) throws {}
  public var startIndex: Int { 0 }
  public var endIndex: Int { 0 }
  public var count: Int { 0 }
  public subscript(i: Int) -> UInt8 {
    get { 0 }
    set {}
  }
  public subscript(r: Range<Int>) -> Data {
    get { self }
    set {}
  }
  public func index(after i: Int) -> Int { i }
  public func index(before i: Int) -> Int { i }
  public mutating func replaceSubrange<C: Collection>(_ r: Range<Int>, with: C)
  where C.Element == UInt8 {}
  public mutating func reserveCapacity(_ n: Int) {}
  public mutating func append(_ other: Data) {}
  public mutating func append(_ bytes: UnsafePointer<UInt8>, count: Int) {}
  public mutating func append<S: Sequence>(contentsOf s: S) where S.Element == UInt8 {}
  public func withUnsafeBytes<R>(_ b: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    fatalError()
  }
  public mutating func withUnsafeMutableBytes<R>(
    _ b: (UnsafeMutableRawBufferPointer) throws -> R
  ) rethrows -> R { fatalError() }
  public static func == (a: Data, b: Data) -> Bool { true }
  public func hash(into: inout Hasher) {}
  public init(from: any Decoder) throws {}
  public func encode(to: any Encoder) throws {}
}

public struct FileAttributeKey: Hashable, Sendable, RawRepresentable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let size = FileAttributeKey(rawValue: "NSFileSize")
  public static let systemFileNumber = FileAttributeKey(rawValue: "NSFileSystemFileNumber")
  public static let systemNumber = FileAttributeKey(rawValue: "NSFileSystemNumber")
  public static let modificationDate = FileAttributeKey(rawValue: "")
  public static let posixPermissions = FileAttributeKey(rawValue: "")
  public static let type = FileAttributeKey(rawValue: "NSFileType")
}
public struct FileAttributeType: Hashable, Sendable, RawRepresentable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let typeRegular = FileAttributeType(rawValue: "NSFileTypeRegular")
}

// Sendable in newer SDKs only: left out to be strict.
open class FileManager {
  public class var `default`: FileManager { fatalError() }
  public func fileExists(atPath: String) -> Bool { false }
  public func isWritableFile(atPath: String) -> Bool { false }
  public func removeItem(atPath: String) throws {}
  public func removeItem(at: URL) throws {}
  public func createDirectory(
    atPath: String,
    withIntermediateDirectories: Bool,
    attributes: [FileAttributeKey: Any]? = nil
  ) throws {}
  public func setAttributes(_ a: [FileAttributeKey: Any], ofItemAtPath: String) throws {}
  public func attributesOfItem(atPath: String) throws -> [FileAttributeKey: Any] { [:] }
  public func contentsOfDirectory(atPath: String) throws -> [String] { [] }
  public func contents(atPath: String) -> Data? { nil }
  public func copyItem(atPath: String, toPath: String) throws {}
  public func moveItem(atPath: String, toPath: String) throws {}
  @discardableResult public func createFile(
    atPath: String,
    contents: Data?,
    attributes: [FileAttributeKey: Any]? = nil
  ) -> Bool { false }
  public var temporaryDirectory: URL { fatalError() }
  public var currentDirectoryPath: String { "" }
}

open class ProcessInfo {
  public class var processInfo: ProcessInfo { fatalError() }
  public var hostName: String { "" }
  public var activeProcessorCount: Int { 1 }
  public var environment: [String: String] { [:] }
  public var processIdentifier: Int32 { 0 }
}

open class JSONEncoder {
  public init() {}
  public struct OutputFormatting: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let prettyPrinted = OutputFormatting(rawValue: 1)
    @available(macOS 10.13, iOS 11.0, watchOS 4.0, tvOS 11.0, *) public static let sortedKeys =
      OutputFormatting(rawValue: 2)
    @available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *) public static
      let withoutEscapingSlashes = OutputFormatting(rawValue: 8)
  }
  public enum NonConformingFloatEncodingStrategy: Sendable {
    case `throw`, convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }
  public var outputFormatting: OutputFormatting = []
  public var nonConformingFloatEncodingStrategy: NonConformingFloatEncodingStrategy = .throw
  public var userInfo: [CodingUserInfoKey: Any] = [:]
  public func encode<T: Encodable>(_ v: T) throws -> Data { fatalError() }
}

open class JSONDecoder {
  public init() {}
  public var userInfo: [CodingUserInfoKey: Any] = [:]
  public func decode<T: Decodable>(_ t: T.Type, from: Data) throws -> T { fatalError() }
}

// Names of Apple's Foundation that a module's own may be taken for.
open class Operation {}
open class Progress {}
open class Process {}
open class Host {}
open class Thread {
  open class func detachNewThread(_ block: @escaping @Sendable () -> Void) { fatalError() }
}
open class Timer {}
open class Stream {}
open class Port {}
open class Unit {}
open class Scanner {}
open class Formatter {}
open class Bundle {}
open class OperationQueue {}
public struct Measurement<U> {}
open class Dimension {}
public struct Calendar {}
public struct TimeZone {}
public struct IndexSet {}
public struct IndexPath {}
public struct CharacterSet {}
open class UserDefaults {}
open class XMLParser {}
public protocol LocalizedError: Error {}
public protocol CustomNSError: Error {}
public protocol RecoverableError: Error {}
public struct POSIXError {}
public struct CocoaError {}
public struct Predicate<T> {}
public struct SortDescriptor<T> {}
public struct AttributedString {}
public struct Morphology {}
public struct PersonNameComponents {}
extension Slice where Base == UnsafeBufferPointer<UInt8> {
  public func withUnsafeBytes<R>(_ b: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    fatalError()
  }
}

// What is asked of servers.
open class URLCache {}
open class HTTPCookie {
  public enum AcceptPolicy: UInt, Sendable { case always, never, onlyFromMainDocumentDomain }
}
open class URLResponse: @unchecked Sendable {}
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  open var statusCode: Int { fatalError() }
  open var allHeaderFields: [AnyHashable: Any] { fatalError() }
}
public struct URLRequest: Hashable, Sendable {
  public enum CachePolicy: UInt, Sendable {
    case useProtocolCachePolicy, reloadIgnoringLocalCacheData
  }
  public init(
    url: URL,
    cachePolicy: CachePolicy = .useProtocolCachePolicy,
    timeoutInterval: TimeInterval = 60
  ) {
    fatalError()
  }
  public var httpMethod: String?
  public var httpBody: Data?
  public var timeoutInterval: TimeInterval
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
}
public struct URLError: Error, Hashable, Sendable {
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static var unknown: Code { fatalError() }
  }
  public var code: Code { fatalError() }
}
open class URLSessionConfiguration: @unchecked Sendable {
  open class var ephemeral: URLSessionConfiguration { fatalError() }
  open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { fatalError() }
    set {}
  }
  open var httpShouldSetCookies: Bool {
    get { fatalError() }
    set {}
  }
  open var urlCache: URLCache? {
    get { fatalError() }
    set {}
  }
  open var requestCachePolicy: URLRequest.CachePolicy {
    get { fatalError() }
    set {}
  }
}
open class URLSessionTask: @unchecked Sendable {
  open func resume() {}
  open func cancel() {}
}
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
public protocol URLSessionDelegate: Sendable {}
public protocol URLSessionTaskDelegate: URLSessionDelegate {
  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  )
}
open class URLSession: @unchecked Sendable {
  public init(
    configuration: URLSessionConfiguration,
    delegate: (any URLSessionDelegate)?,
    delegateQueue: OperationQueue?
  ) {
    fatalError()
  }
  open func dataTask(
    with request: URLRequest,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask { fatalError() }
  open func finishTasksAndInvalidate() {}
}

// Objects, and what frameworks of objects are made of.
public protocol NSObjectProtocol: AnyObject {}
open class NSObject: NSObjectProtocol, Hashable {
  public init() {}
  open var hash: Int { 0 }
  open func isEqual(_ object: Any?) -> Bool { false }
  public static func == (a: NSObject, b: NSObject) -> Bool { true }
  public func hash(into: inout Hasher) {}
}
open class NSData: NSObject {
  public init(data: Data) {}
}
open class NSNumber: NSObject, @unchecked Sendable {
  public init(value: Int64) {}
  public init(value: Double) {}
  open var objCType: UnsafePointer<CChar> { fatalError() }
  open var doubleValue: Double { 0 }
  open var int64Value: Int64 { 0 }
  open var boolValue: Bool { false }
}
public protocol NSCoding {
  func encode(with coder: NSCoder)
  init?(coder: NSCoder)
}
public protocol NSSecureCoding: NSCoding { static var supportsSecureCoding: Bool { get } }
open class NSCoder: NSObject {
  open var requiresSecureCoding: Bool { false }
  open func encode(_ object: Any?, forKey key: String) {}
  public func decodeObject<T: NSObject>(of type: T.Type, forKey key: String) -> T? { nil }
}
open class NSKeyedArchiver: NSCoder {
  @available(macOS 10.13, iOS 11.0, watchOS 4.0, tvOS 11.0, *)
  public init(requiringSecureCoding: Bool) {}
  @available(macOS 10.13, iOS 11.0, watchOS 4.0, tvOS 11.0, *)
  open class func archivedData(
    withRootObject: Any,
    requiringSecureCoding: Bool
  ) throws -> Data { fatalError() }
  open func finishEncoding() {}
  @available(macOS 10.12, iOS 10.0, watchOS 3.0, tvOS 10.0, *)
  open var encodedData: Data { fatalError() }
}
open class NSKeyedUnarchiver: NSCoder {
  @available(macOS 10.13, iOS 11.0, watchOS 4.0, tvOS 11.0, *)
  public init(forReadingFrom: Data) throws {}
  @available(macOS 10.13, iOS 11.0, watchOS 4.0, tvOS 11.0, *)
  public static func unarchivedObject<T>(ofClass: T.Type, from: Data) throws -> T?
  where T: NSObject, T: NSCoding { nil }
  open override var requiresSecureCoding: Bool {
    get { false }
    set {}
  }
  open func finishDecoding() {}
}
open class NSLock: NSObject, @unchecked Sendable {
  public override init() {}
  public func withLock<R>(_ body: () throws -> R) rethrows -> R { try body() }
}
open class NSError: NSObject, Error, @unchecked Sendable {
  open var domain: String { "" }
  open var code: Int { 0 }
  open var userInfo: [String: Any] { [:] }
  open var localizedDescription: String { "" }
}
// What the compiler calls where an error is taken as an NSError.
public func _convertErrorToNSError(_ error: any Error) -> NSError { fatalError() }
public let NSCocoaErrorDomain = "NSCocoaErrorDomain"
public let NSURLErrorDomain = "NSURLErrorDomain"
public let NSUnderlyingErrorKey = "NSUnderlyingError"
public let NSLocalizedDescriptionKey = "NSLocalizedDescription"
public var NSURLErrorCancelled: Int { -999 }
public var NSURLErrorTimedOut: Int { -1001 }
public var NSURLErrorNetworkConnectionLost: Int { -1005 }
public var NSURLErrorNotConnectedToInternet: Int { -1009 }
public var NSURLErrorInternationalRoamingOff: Int { -1018 }
public var NSURLErrorDataNotAllowed: Int { -1020 }
public enum QualityOfService: Int, Sendable {
  case userInteractive = 33
  case userInitiated = 25
  case utility = 17
  case background = 9
  case `default` = -1
}
public struct Notification {
  public struct Name: Hashable, Sendable {
    public init(_ rawValue: String) {}
  }
}
open class NotificationCenter: @unchecked Sendable {
  open class var `default`: NotificationCenter { fatalError() }
  open func addObserver(
    forName: Notification.Name?,
    object: Any?,
    queue: OperationQueue?,
    using: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol { fatalError() }
  open func removeObserver(_ observer: Any) {}
}

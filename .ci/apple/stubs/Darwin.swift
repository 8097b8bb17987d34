// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
@_exported import Darwin
public var errno: Int32 {
  get { __error().pointee }
  set { __error().pointee = newValue }
}

public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { fatalError() }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 {
  fatalError()
}

public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { fatalError() }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ ptr: UnsafeMutableRawPointer) -> Int32 {
  fatalError()
}

public func ioctl(_ fd: CInt, _ request: UInt, _ value: CInt) -> CInt { fatalError() }
public func ioctl(_ fd: CInt, _ request: UInt, _ ptr: UnsafeMutableRawPointer) -> CInt {
  fatalError()
}

public func ioctl(_ fd: CInt, _ request: UInt) -> CInt { fatalError() }
public var S_IFMT: mode_t { mode_t(0o170000) }
public var S_IFDIR: mode_t { mode_t(0o040000) }
public var S_IFREG: mode_t { mode_t(0o100000) }
public var SIG_DFL: (@convention(c) (Int32) -> Void)? { nil }
public var SIG_IGN: (@convention(c) (Int32) -> Void)? { nil }
public var TIOCGWINSZ: UInt { 0x40087468 }
public var stdout: UnsafeMutablePointer<FILE> { __stdoutp }
public var stderr: UnsafeMutablePointer<FILE> { __stderrp }
public let CLOCK_REALTIME: clockid_t = clockid_t(rawValue: 0)
public let CLOCK_MONOTONIC: clockid_t = clockid_t(rawValue: 6)
public func pow(_ x: Double, _ y: Double) -> Double { fatalError() }

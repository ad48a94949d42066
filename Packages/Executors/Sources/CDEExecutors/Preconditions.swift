#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// The message about a caller's mistake appears in every build. The standard library's precondition(_:_:) drops its
// message in optimised code, so a server's log would show an illegal instruction only. The message names the caller's
// line; fatalError(_:file:line:) could name it only if every function passed it on.

/// Ends the process with a message unless a condition holds, in debug and in release builds.
///
/// - Parameters:
///   - condition: what the caller promised.
///   - message: what was promised, and what to do instead. Evaluated only when the condition is false.
///   - file: the file that the message names when the program's own is not known.
///   - line: the line in it.
@_spi(CDE) @inlinable @inline(__always)
public func checkPrecondition(
  _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String,
  file: StaticString = #fileID, line: UInt = #line
) {
  if !condition() { failPrecondition(message(), file: file, line: line) }
}

/// Ends the process with a message, in debug and in release builds.
///
/// The message begins with the file and line of the call that left the program's own code, as far as debug
/// information tells.
///
/// - Parameters:
///   - message: what was promised, and what to do instead.
///   - file: the file that the message names when the program's own is not known.
///   - line: the line in it.
@_spi(CDE) @inline(never)
public func failPrecondition(
  _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  let message = message()
  guard let place = CallerPlace.find() else { fatalError(message, file: file, line: line) }
  let line = Array("\(place): Fatal error: \(message)\n".utf8)
  // If standard error is closed, there is no other place to say it.
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  abort()
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// What a caller did wrong is said in every build: the standard library's precondition(_:_:) drops its message
// where code is optimised, and leaves a server's log with an illegal instruction. And it is said of the caller's
// line, which fatalError(_:file:line:) can name only where every function passes it on.

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

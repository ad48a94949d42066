#if os(Linux) && canImport(Runtime)
  import Runtime
#endif

/// The calls that led to a place of the library, as addresses. Names are looked up only when they are asked for.
@_spi(CDE) public struct CallStack: Sendable {
  /// A line of a program's own source, or a function where the program has no line tables.
  public struct Place: Sendable, Hashable, CustomStringConvertible {
    /// The file's path and the line, or the function's name.
    public let description: String

    init(_ description: String) { self.description = description }
  }

  /// A number that calls along the same way share.
  public let way: Int
  #if os(Linux) && canImport(Runtime)
    private let trace: Backtrace?
  #endif

  /// The calls of the current thread. Costs some microseconds.
  ///
  /// - Parameter limit: how many of the innermost calls are kept.
  public static func captured(limit: Int = 24) -> CallStack {
    var hasher = Hasher()
    #if os(Linux) && canImport(Runtime)
      let trace = try? Backtrace.capture(algorithm: .fast, limit: limit, top: 0)
      if let trace { for frame in trace.frames { hasher.combine(frame.originalProgramCounter) } }
      return CallStack(way: hasher.finalize(), trace: trace)
    #else
      return CallStack(way: hasher.finalize())
    #endif
  }

  /// The innermost call that is not the library's own; nil if debug information and symbols do not tell.
  ///
  /// The first look-up in a process takes milliseconds in a small program and seconds of processor time in one of 200 MB.
  public func place() -> Place? {
    #if os(Linux) && canImport(Runtime)
      guard let frames = trace?.symbolicated()?.frames else { return nil }
      if let line = CallerPlace.line(in: frames) { return Place(line) }
      return CallerPlace.function(in: frames).map(Place.init)
    #else
      return nil
    #endif
  }
}

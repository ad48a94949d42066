internal import CDEUnwind

#if os(Linux) && canImport(Runtime)
  public import Runtime
#endif

/// The calls that led to a place of the library, as addresses. Their names are looked up later, if at all.
@_spi(CDE) public struct CallStack: Sendable {
  /// The return addresses, the innermost first.
  public let addresses: [UInt64]

  /// The calls of the current thread. Costs some microseconds.
  ///
  /// - Parameter limit: how many of the innermost calls are kept.
  public static func captured(limit: Int = 24) -> CallStack {
    CallStack(
      addresses: Array(unsafeUninitializedCapacity: limit) { buffer, count in
        count = Int(cde_capture_frames(buffer.baseAddress, Int32(limit)))
      })
  }

  /// A number that calls along the same way share.
  public var way: Int {
    var hasher = Hasher()
    hasher.combine(addresses)
    return hasher.finalize()
  }

  #if os(Linux) && canImport(Runtime)
    /// The innermost call that is not the library's own: file and line, or the function where there are no line tables; nil if
    /// neither is known.
    public static func place(in frames: [SymbolicatedBacktrace.Frame]) -> String? {
      CallerPlace.line(in: frames) ?? CallerPlace.function(in: frames)
    }
  #endif
}

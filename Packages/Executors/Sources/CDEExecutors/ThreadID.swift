#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Tells threads apart for as long as they live.
@_spi(CDE) public struct ThreadID: Hashable, Sendable {
  #if canImport(Darwin)
    private let value = UInt(bitPattern: pthread_self())
  #else
    private let value = UInt(pthread_self())
  #endif

  /// The calling thread.
  public static var current: ThreadID { ThreadID() }
}

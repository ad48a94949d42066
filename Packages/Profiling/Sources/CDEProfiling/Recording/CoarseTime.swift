#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Dispatch
#endif

/// The time in nanoseconds to some milliseconds, at the cost of a few nanoseconds.
enum CoarseTime {
  static func now() -> UInt64 {
    #if canImport(Glibc) || canImport(Musl)
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
      return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    #else
      return DispatchTime.now().uptimeNanoseconds
    #endif
  }
}

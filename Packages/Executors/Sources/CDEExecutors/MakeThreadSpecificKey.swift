#if canImport(Darwin)
  public import Darwin
#elseif canImport(Musl)
  public import Musl
#else
  public import Glibc
#endif

/// A key for one pointer of each thread. It lives as long as the process.
@_spi(CDE) public func makeThreadSpecificKey() -> pthread_key_t {
  var key = pthread_key_t()
  guard pthread_key_create(&key, nil) == 0 else {
    fatalError("The process has no room for another thread-specific value.")
  }
  return key
}

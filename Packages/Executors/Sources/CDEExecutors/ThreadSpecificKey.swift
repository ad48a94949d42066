#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A key for one pointer of each thread. It lives as long as the process.
func makeThreadSpecificKey() -> pthread_key_t {
  var key = pthread_key_t()
  guard pthread_key_create(&key, nil) == 0 else {
    fatalError("The process has no room for another thread-specific value.")
  }
  return key
}

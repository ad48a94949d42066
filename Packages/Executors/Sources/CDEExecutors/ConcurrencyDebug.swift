#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whether contexts and objects check at every access that they are used on their own executor.
public enum ConcurrencyDebug {
  /// True in debug builds, and in release builds when the environment variable `CDE_CONCURRENCY_DEBUG`
  /// is `1`, `true`, `yes` or `on`. Read once; a later change of the environment has no effect.
  ///
  /// Plays the part of Core Data's launch argument `-com.apple.CoreData.ConcurrencyDebug 1`.
  public static let isEnabled: Bool = {
    #if DEBUG
      return true
    #else
      return means(environment: "CDE_CONCURRENCY_DEBUG")
    #endif
  }()

  /// Whether an environment variable holds one of the words for yes.
  static func means(environment name: String) -> Bool {
    guard let value = getenv(name) else { return false }
    return isYes(String(cString: value))
  }

  static func isYes(_ text: String) -> Bool {
    ["1", "true", "yes", "on"].contains(text.lowercased())
  }
}

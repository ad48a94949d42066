/// What this module contains in the current build.
public enum PostgreSQLEngine {
  /// Whether the module was built with the package trait `PostgreSQL`.
  ///
  /// Without the trait the module contains only this type, so that it builds without libpq's headers.
  public static var isAvailable: Bool {
    #if PostgreSQL
      true
    #else
      false
    #endif
  }
}

#if PostgreSQL
  internal import CDELibPQ

  /// The client library that the process has loaded.
  public enum ClientLibrary {
    /// The version of libpq as a number, `150018` for 15.18. The server may have another version.
    public static var version: Int { Int(PQlibVersion()) }
  }
#endif

#if PostgreSQL
  /// Parts of statements over the server's catalogue.
  enum Catalogue {
    /// The number of the store's schema. A cast of its name to `regnamespace` would read the name as SQL does, with small letters, and
    /// fail for those with blanks and points.
    static let schema = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
  }
#endif

import CDESQLite

/// The configuration of SQLite for the whole process.
enum ProcessConfiguration {
  /// Whether SQLite is configured as this engine requires; false if SQLite was used before.
  ///
  /// - Precondition: no call of SQLite precedes the first read of this property.
  static let isDone = cde_sqlite3_configure_process() == SQLITE_OK
}

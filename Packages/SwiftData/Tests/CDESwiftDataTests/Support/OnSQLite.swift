@_spi(CDE) import CDESQLiteFaults
import Testing

extension Trait where Self == ConditionTrait {
  /// For tests about what only SQLite stores have: their files and SQL, texts with zero bytes, one file with two models.
  static var onSQLite: Self { .enabled(if: StoresUnderTest.areSQLite, "The test is about SQLite stores.") }
}

public import CDEStore

/// How one database spells the parts of a migration's statements.
@_spi(CDE) public protocol MigrationDialect: Sendable {
  /// The type of a column as its table declares it. Columns of equal declarations need no conversion.
  func declaration(_ column: PhysicalSchema.Column) -> String

  /// A value of an old attribute as one of a new attribute. It is NULL, and no error, if the new type has no place for the value:
  /// obstacles are counted by the new values.
  ///
  /// - Returns: nil if the value stays as it is.
  func converted(_ column: String, from old: StoreAttribute, to new: StoreAttribute) -> String?

  /// The condition that a number has no place in its attribute's new type.
  ///
  /// - Parameter column: the SQL of the old value.
  /// - Returns: nil if each value has a place.
  func unfit(_ column: String, _ change: NumberChange) -> String?

  /// The condition that a number has a place in its attribute's new type, and becomes another number there.
  ///
  /// - Parameter column: the SQL of the old value.
  /// - Returns: nil if each value stays the same number.
  func rounded(_ column: String, _ change: NumberChange) -> String?

  /// A default value of an attribute, as its column has it.
  func constant(_ value: StoreValue, for attribute: StoreAttribute) -> SQLPiece

  /// The value of an attribute that is derived from another one of its row.
  ///
  /// - Parameter value: the new value of the other attribute.
  /// - Returns: nil if the database can't compute it, so that the process does so afterwards.
  func derived(_ derivation: StoreDerivation, from value: SQLPiece) -> SQLPiece?

  /// Whether values that may be in files have a head that says so.
  var keepsValuesInFiles: Bool { get }

  /// A column that identifies a row of any table while a statement runs.
  var rowAddress: String { get }

  /// The statement that inserts what a query finds, and leaves out rows that the table has already.
  func insertion(ofNewRows query: String, into table: String) -> String

  /// The name that an old table has while the new one is filled.
  func temporaryName(_ table: String) -> String
}

extension MigrationDialect {
  /// A constant that is no value, with the type of keys.
  var noKey: String { "CAST(NULL AS BIGINT)" }
}

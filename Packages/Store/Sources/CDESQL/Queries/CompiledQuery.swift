public import CDEStore

/// A query as SQL, with its bound values in the order of their parameters.
@_spi(CDE) public struct CompiledQuery: Sendable {
  /// The statement.
  public var sql: String
  /// The values of its parameters.
  public var bindings: [StoreValue]
  /// The part of the query that the dialect can't decide; nil if the statement is the whole query.
  public var remainder: QueryRemainder?

  /// Makes a query without a remainder.
  public init(sql: String, bindings: [StoreValue]) {
    self.sql = sql
    self.bindings = bindings
  }
}

/// The part of a query that a dialect can't decide.
///
/// The statement then returns all rows for which ``filter`` may hold, in any order if ``sort`` has terms, and without
/// the query's limit and offset. The engine applies the remainder in this order: filter, sort, offset, limit.
@_spi(CDE) public struct QueryRemainder: Hashable, Sendable {
  /// The condition for the rows of the statement; `.constant(true)` if all of them belong to the result.
  public var filter: StoreFilter
  /// The order of the result; empty if the statement's order is the result's.
  public var sort: [StoreSort]
  /// The number of rows to skip.
  public var offset: Int
  /// The maximum number of rows; nil for all.
  public var limit: Int?

  /// Makes a remainder; see the properties.
  public init(filter: StoreFilter, sort: [StoreSort], offset: Int, limit: Int?) {
    self.filter = filter
    self.sort = sort
    self.offset = offset
    self.limit = limit
  }
}

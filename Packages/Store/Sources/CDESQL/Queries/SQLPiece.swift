public import CDEStore

/// A piece of SQL with its bound values, in the order of their parameters.
@_spi(CDE) public struct SQLPiece: Sendable {
  /// The text. Each `?` outside quotes is a parameter; a dialect rewrites them in ``SQLDialect/statement(_:)``.
  public var sql: String
  /// The values of the parameters.
  public var bindings: [StoreValue] = []
  /// The kind of the value, if the piece is one and its kind is known.
  public var kind: SQLKind?

  /// Makes a piece; see the properties.
  public init(_ sql: String, _ bindings: [StoreValue] = [], kind: SQLKind? = nil) {
    self.sql = sql
    self.bindings = bindings
    self.kind = kind
  }

  /// One piece after another.
  public static func + (left: SQLPiece, right: SQLPiece) -> SQLPiece {
    SQLPiece(left.sql + right.sql, left.bindings + right.bindings)
  }

  /// The pieces in their order, with a text between each two.
  public static func joined(_ pieces: [SQLPiece], _ separator: String) -> SQLPiece {
    SQLPiece(pieces.map(\.sql).joined(separator: separator), pieces.flatMap(\.bindings))
  }
}

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

  /// The same piece as a value of a kind.
  public consuming func ofKind(_ kind: SQLKind?) -> SQLPiece {
    self.kind = kind
    return self
  }

  /// One piece after another.
  public static func + (left: consuming SQLPiece, right: SQLPiece) -> SQLPiece {
    left += right
    return left
  }

  /// Adds a piece at the end. The sum is no value of a known kind.
  public static func += (left: inout SQLPiece, right: SQLPiece) {
    left.sql += right.sql
    left.bindings += right.bindings
    left.kind = nil
  }

  /// Adds a clause: its keyword and its parts, with a text between each two; nothing if there are no parts.
  public mutating func add(clause keyword: String, _ parts: [SQLPiece], _ separator: String) {
    if parts.isEmpty { return }
    sql += keyword
    self += .joined(parts, separator)
  }

  /// The pieces in their order, with a text between each two.
  public static func joined(_ pieces: [SQLPiece], _ separator: String) -> SQLPiece {
    var result = SQLPiece("")
    for (index, piece) in pieces.enumerated() {
      if index > 0 { result.sql += separator }
      result += piece
    }
    return result
  }
}

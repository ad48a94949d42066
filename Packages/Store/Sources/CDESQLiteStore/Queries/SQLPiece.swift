import CDEStore

/// A piece of SQL with its bound values, in the order of their parameters.
struct SQLPiece {
  var sql: String
  var bindings: [StoreValue] = []

  init(_ sql: String, _ bindings: [StoreValue] = []) {
    self.sql = sql
    self.bindings = bindings
  }

  static func + (left: SQLPiece, right: SQLPiece) -> SQLPiece {
    SQLPiece(left.sql + right.sql, left.bindings + right.bindings)
  }

  static func joined(_ pieces: [SQLPiece], _ separator: String) -> SQLPiece {
    SQLPiece(pieces.map(\.sql).joined(separator: separator), pieces.flatMap(\.bindings))
  }
}

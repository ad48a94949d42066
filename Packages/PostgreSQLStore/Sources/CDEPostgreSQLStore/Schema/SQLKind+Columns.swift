#if PostgreSQL
  @_spi(CDE) internal import CDESQL

  // How values of a kind are kept in a column. Integers of all widths and keys have one width, which gives arithmetic the same limits as
  // on SQLite. Numbers and dates are `double precision`, because the server's own dates are rounded to microseconds.
  extension SQLKind {
    /// The kind of a column. Keys, entity numbers and positions are integers.
    init(_ column: PhysicalSchema.Column) { self.init(column.type ?? .integer64) }

    /// The type in `CREATE TABLE`. The collation "C" orders text by its bytes, as the other engines do.
    var declaration: String {
      switch self {
      case .integer: "bigint"
      case .boolean: "boolean"
      case .real: "double precision"
      case .decimal: "numeric"
      case .text: "text COLLATE \"C\""
      case .uuid: "uuid"
      case .bytes: "bytea"
      }
    }

    /// The name that the server's catalogue has for the type.
    var catalogueName: String { self == .text ? "text" : declaration }

    /// The type of parameters. The binary format of decimals is complicated, so they travel as text.
    var parameter: ServerType {
      switch self {
      case .integer: .integer
      case .boolean: .boolean
      case .real: .double
      case .decimal, .text: .text
      case .uuid: .uuid
      case .bytes: .bytes
      }
    }

    /// The expression that turns a parameter's value into a column's.
    func stored(_ expression: String) -> String { self == .decimal ? "\(expression)::numeric" : expression }

    /// The expression that turns a column's value into one that is read. Decimals have no zeros at their ends, as on SQLite.
    func read(_ expression: String) -> String {
      self == .decimal ? "trim_scale(\(expression))::text" : expression
    }
  }
#endif

#if PostgreSQL
  internal import CDEStore

  /// The type of a column, and how its values travel.
  enum ColumnType: Sendable, Hashable {
    /// Integers of all widths and keys. One width gives arithmetic the same limits as on SQLite.
    case integer
    case boolean
    /// Numbers and dates. The server's own dates are rounded to microseconds.
    case double
    case decimal
    case text
    case uuid
    case bytes

    init(_ type: StoreAttributeType) {
      switch type {
      case .integer16, .integer32, .integer64: self = .integer
      case .boolean: self = .boolean
      case .double, .float, .date: self = .double
      case .decimal: self = .decimal
      case .string, .uri, .undefined, .objectID: self = .text
      case .uuid: self = .uuid
      case .binary, .transformable, .composite: self = .bytes
      }
    }

    /// The type in `CREATE TABLE`. The collation "C" orders text by its bytes, as the other engines do.
    var declaration: String {
      switch self {
      case .integer: "bigint"
      case .boolean: "boolean"
      case .double: "double precision"
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
      case .double: .double
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

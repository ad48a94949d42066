/// What a command found, before it is text.
public struct Answer: Sendable {
  /// A part of an answer.
  public enum Block: Sendable {
    case table(Table)
    /// Names with their values, one a line.
    case facts([Fact])
    /// Lines as they are, for example a sentence or a diagram.
    case text(String)
  }

  /// A name with its value.
  public struct Fact: Sendable {
    public var name: String
    public var cell: Cell

    public init(_ name: String, _ cell: Cell) {
      self.name = name
      self.cell = cell
    }
  }

  /// The parts, in order.
  public var blocks: [Block]
  /// The answer of `--json`; nil for that of the parts.
  public var json: JSONValue?
  /// Whether the command found what it looks for, such as a difference or a damage. The exit code is 1 then.
  public var hasFindings: Bool
  /// A sentence for people at a terminal; it goes to standard error.
  public var note: String?

  public init(_ blocks: [Block], json: JSONValue? = nil, hasFindings: Bool = false) {
    self.blocks = blocks
    self.json = json
    self.hasFindings = hasFindings
  }

  /// The answer as one JSON value: a table is an array of objects, facts are an object.
  public var jsonValue: JSONValue {
    if let json { return json }
    let values = blocks.map { block -> JSONValue in
      switch block {
      case .table(let table): table.json
      case .facts(let facts): .object(facts.map { JSONValue.Member($0.name, $0.cell.json) })
      case .text(let text): .string(text)
      }
    }
    return values.count == 1 ? values[0] : .array(values)
  }
}

/// Rows below named columns.
public struct Table: Sendable {
  /// A column of a table.
  public struct Column: Sendable {
    public var name: String
    /// Whether the values stand at the right edge.
    public var isNumber: Bool

    public init(_ name: String, isNumber: Bool = false) {
      self.name = name
      self.isNumber = isNumber
    }
  }

  public var title: String?
  public var columns: [Column]
  public var rows: [[Cell]]

  public init(title: String? = nil, _ columns: [Column], rows: [[Cell]] = []) {
    self.title = title
    self.columns = columns
    self.rows = rows
  }

  var json: JSONValue {
    .array(rows.map { row in .object(zip(columns, row).map { JSONValue.Member($0.name, $1.json) }) })
  }
}

/// A value as text and as JSON.
public struct Cell: Hashable, Sendable {
  public var text: String
  public var json: JSONValue

  public init(_ text: String, _ json: JSONValue) {
    self.text = text
    self.json = json
  }

  public init(_ text: String) { self.init(text, .string(text)) }

  public init(_ number: Int) { self.init(String(number), .int(number)) }

  public init(_ flag: Bool) { self.init(flag ? "yes" : "no", .bool(flag)) }

  /// No value.
  public static let none = Cell("", .null)
}

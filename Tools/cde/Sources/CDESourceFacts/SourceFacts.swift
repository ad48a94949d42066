/// What `cde-source-facts` prints: the declarations of Swift files that models consist of.
///
/// Offsets count the bytes of a file's UTF-8. Lines and columns begin at 1, and a column counts bytes.
public struct SourceFacts: Codable, Sendable {
  /// The form of the output. A program and a reader of other versions refuse each other.
  public static let currentFormat = 1

  public var format: Int
  public var files: [File]

  public init(files: [File]) {
    format = Self.currentFormat
    self.files = files
  }

  /// One file.
  public struct File: Codable, Sendable {
    public var path: String
    /// Errors of syntax, and why the file can't be read.
    public var problems: [Problem]
    /// Classes, structures and enumerations, also nested ones, in the order of the file.
    public var types: [TypeDeclaration]

    public init(path: String, problems: [Problem] = [], types: [TypeDeclaration] = []) {
      self.path = path
      self.problems = problems
      self.types = types
    }
  }

  /// A place that the parser refuses.
  public struct Problem: Codable, Sendable {
    public var message: String
    public var place: Place

    public init(message: String, place: Place) {
      self.message = message
      self.place = place
    }
  }

  /// Where something begins and ends.
  public struct Place: Codable, Hashable, Sendable {
    public var start: Int
    public var end: Int
    public var line: Int
    public var column: Int

    public init(start: Int, end: Int, line: Int, column: Int) {
      self.start = start
      self.end = end
      self.line = line
      self.column = column
    }

    public var range: Range<Int> { start..<end }
  }

  /// The source of an expression or a type.
  public struct Text: Codable, Hashable, Sendable {
    public var text: String
    /// The value of a string literal without interpolation.
    public var string: String?
    public var place: Place

    public init(text: String, string: String? = nil, place: Place) {
      self.text = text
      self.string = string
      self.place = place
    }
  }

  /// A class, a structure or an enumeration.
  public struct TypeDeclaration: Codable, Sendable {
    public enum Kind: String, Codable, Sendable {
      case `class`, `struct`, `enum`
    }

    public var kind: Kind
    /// The name, with those of the types around it: `Outer.Inner`.
    public var name: String
    /// The place of the name.
    public var place: Place
    public var modifiers: [String]
    /// What it inherits from and conforms to.
    public var inherited: [Text]
    public var attributes: [Attribute]
    public var properties: [Property]
    /// The cases of an enumeration.
    public var cases: [EnumerationCase]
    /// Macros in the body such as `#Unique`, without the sign.
    public var macros: [Attribute]

    public init(
      kind: Kind, name: String, place: Place, modifiers: [String], inherited: [Text], attributes: [Attribute],
      properties: [Property], cases: [EnumerationCase], macros: [Attribute]
    ) {
      self.kind = kind
      self.name = name
      self.place = place
      self.modifiers = modifiers
      self.inherited = inherited
      self.attributes = attributes
      self.properties = properties
      self.cases = cases
      self.macros = macros
    }
  }

  /// A case of an enumeration.
  public struct EnumerationCase: Codable, Sendable {
    public var name: String
    public var rawValue: Text?

    public init(name: String, rawValue: Text?) {
      self.name = name
      self.rawValue = rawValue
    }
  }

  /// An attribute of a declaration, such as `@Attribute(.unique)`.
  public struct Attribute: Codable, Sendable {
    /// The name without the sign and without a module.
    public var name: String
    public var place: Place
    /// What stands between the parentheses; nil without parentheses.
    public var inside: Place?
    public var arguments: [Argument]

    public init(name: String, place: Place, inside: Place?, arguments: [Argument]) {
      self.name = name
      self.place = place
      self.inside = inside
      self.arguments = arguments
    }
  }

  /// An argument of an attribute.
  public struct Argument: Codable, Sendable {
    public var label: String?
    public var value: Text
    /// The label and the value, without a comma.
    public var place: Place

    public init(label: String?, value: Text, place: Place) {
      self.label = label
      self.value = value
      self.place = place
    }
  }

  /// A property, of which a declaration may have several.
  public struct Property: Codable, Sendable {
    /// The name without backticks.
    public var name: String
    /// The place of the name.
    public var place: Place
    /// The declaration, from its first attribute on.
    public var declaration: Place
    public var isVariable: Bool
    public var isStatic: Bool
    public var isLazy: Bool
    /// Whether it has a getter of its own. Observers are none.
    public var isComputed: Bool
    /// Whether it stands in `#if`.
    public var isConditional: Bool
    /// The number of properties in the declaration.
    public var siblings: Int
    public var type: Text?
    public var initialValue: Text?
    public var attributes: [Attribute]

    public init(
      name: String, place: Place, declaration: Place, isVariable: Bool, isStatic: Bool, isLazy: Bool,
      isComputed: Bool, isConditional: Bool, siblings: Int, type: Text?, initialValue: Text?,
      attributes: [Attribute]
    ) {
      self.name = name
      self.place = place
      self.declaration = declaration
      self.isVariable = isVariable
      self.isStatic = isStatic
      self.isLazy = isLazy
      self.isComputed = isComputed
      self.isConditional = isConditional
      self.siblings = siblings
      self.type = type
      self.initialValue = initialValue
      self.attributes = attributes
    }
  }
}

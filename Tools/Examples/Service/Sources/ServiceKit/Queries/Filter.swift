import CoreDataEvolution

/// A condition of a request's query, such as `installedSize.ge=100`.
///
/// The text of the condition is made of constants of this program: key paths of the fields' table, and operators of the table below. Values
/// are bound.
struct Filter {
  /// What may be asked of a field.
  enum Operator: String, CaseIterable {
    case equal = "eq"
    case unequal = "ne"
    case less = "lt"
    case atMost = "le"
    case greater = "gt"
    case atLeast = "ge"
    case begins
    case contains
    case isOneOf = "in"

    var symbol: String {
      switch self {
      case .equal: "=="
      case .unequal: "!="
      case .less: "<"
      case .atMost: "<="
      case .greater: ">"
      case .atLeast: ">="
      case .begins: "BEGINSWITH"
      case .contains: "CONTAINS"
      case .isOneOf: "IN"
      }
    }

    func suits<Entity>(_ kind: Field<Entity>.Kind) -> Bool {
      switch kind {
      case .text: true
      case .integer: self != .begins && self != .contains
      case .flag: self == .equal
      case .reference: self == .equal || self == .unequal || self == .isOneOf || self == .begins
      case .references: self == .equal || self == .isOneOf
      }
    }
  }

  /// How many values an `in` lists at most.
  static let valueLimit = 100
  /// How long a value is at most, in bytes.
  static let lengthLimit = 1_000

  let predicate: NSPredicate

  /// - Parameters:
  ///   - name: a field, or a field and an operator with a dot between.
  ///   - value: the text that stands behind the sign of equality; with commas between the values of an `in`.
  /// - Throws: a ``Problem`` with status 400 that names what is wrong.
  init<Entity: Resource>(_ name: String, _ value: String, of: Entity.Type) throws {
    let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let field = Entity.field(parts[0]), let path = field.path else {
      let names = Entity.fields.filter { $0.path != nil }.map(\.name)
      throw Problem.query("There is no filter \(parts[0]). These are: \(names.joined(separator: ", ")).")
    }
    guard let condition = parts.count == 1 ? .equal : Operator(rawValue: parts[1]),
      condition.suits(field.kind)
    else {
      let names = Operator.allCases.filter { $0.suits(field.kind) }.map(\.rawValue)
      throw Problem.query(
        "The field \(field.name) has no operator \(parts.dropFirst().joined()). These are: "
          + "\(names.joined(separator: ", ")).")
    }
    guard value.utf8.count <= Self.lengthLimit else {
      throw Problem.query("The value of \(name) is longer than \(Self.lengthLimit) bytes.")
    }
    let operand: Any
    if condition == .isOneOf {
      let values = value.split(separator: ",", omittingEmptySubsequences: false)
      guard values.count <= Self.valueLimit else {
        throw Problem.query("\(name) lists more than \(Self.valueLimit) values.")
      }
      operand = try values.map { try Self.operand(String($0), name, field.kind) }
    } else {
      operand = try Self.operand(value, name, field.kind)
    }
    var any = ""
    if case .references = field.kind { any = "ANY " }
    predicate = NSPredicate.make("\(any)\(path) \(condition.symbol) %@", operand)
  }

  private static func operand<Entity>(_ text: String, _ name: String, _ kind: Field<Entity>.Kind) throws
    -> Any
  {
    switch kind {
    case .text, .reference, .references: return text
    case .integer:
      guard let number = Int(text) else { throw Problem.query("The value of \(name) is no whole number.") }
      return number
    case .flag:
      guard let flag = Bool(text) else {
        throw Problem.query("The value of \(name) is neither true nor false.")
      }
      return flag
    }
  }
}

extension NSPredicate {
  /// A condition of a constant format, with its values bound.
  static func make(_ format: String, _ values: Any?...) -> NSPredicate {
    NSPredicate(format: format, argumentArray: values.map { $0 as Any })
  }
}

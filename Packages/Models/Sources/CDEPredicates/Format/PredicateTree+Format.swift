internal import Foundation

extension PredicateTree: CustomStringConvertible {
  /// The canonical format string: arguments in place, text in double quotes, keys bare, one space around
  /// operators.
  ///
  /// Parsing the string gives an equal tree, with these exceptions: object references (printed by their
  /// description), decimals (printed as plain numbers, as in Core Data, and parsed as numbers), booleans
  /// (printed as `1` and `0`, and parsed as numbers), the elements of sets (no order), and compounds of fewer
  /// than two parts.
  public var predicateFormat: String {
    ConditionWalk.print(self, \.form) { leaf in
      switch leaf {
      case .comparison(let comparison): (comparison.predicateFormat, false)
      case .constant(let value): (ConditionWalk.format(value), false)
      case .and, .or, .not: ("", false)
      }
    }
  }

  public var description: String { predicateFormat }
}

extension ConditionWalk {
  private enum Printed<Node> {
    case word(String)
    /// A condition. As an operand of AND, OR or NOT a compound has parentheses.
    case condition(Node, isOperand: Bool)
  }

  /// Prints a condition.
  ///
  /// - Parameter leaf: returns the text of a condition that has no parts in this walk, and whether it needs parentheses as
  ///   an operand.
  static func print<Node>(
    _ root: Node, _ form: (Node) -> ConditionForm<Node>, leaf: (Node) -> (text: String, isCompound: Bool)
  ) -> String {
    var text = ""
    var pending: [Printed<Node>] = [.condition(root, isOperand: false)]
    while let part = pending.popLast() {
      switch part {
      case .word(let word): text += word
      case .condition(let node, let isOperand):
        switch form(node) {
        case .leaf:
          let leaf = leaf(node)
          text += isOperand && leaf.isCompound ? "(\(leaf.text))" : leaf.text
        case .negation(let part):
          text += "NOT "
          pending.append(.condition(part, isOperand: true))
        case .compound(let parts, let isAnd) where parts.isEmpty: text += format(isAnd)
        case .compound(let parts, _) where parts.count == 1:
          pending.append(.condition(parts[0], isOperand: isOperand))
        case .compound(let parts, let isAnd):
          if isOperand {
            text += "("
            pending.append(.word(")"))
          }
          for (index, part) in parts.enumerated().reversed() {
            pending.append(.condition(part, isOperand: true))
            if index > 0 { pending.append(.word(isAnd ? " AND " : " OR ")) }
          }
        }
      }
    }
    return text
  }

  /// A condition that is true for all objects, or for none.
  static func format(_ holds: Bool) -> String { holds ? "TRUEPREDICATE" : "FALSEPREDICATE" }
}

extension PredicateComparison {
  var predicateFormat: String {
    let prefix = modifier == .direct ? "" : modifier.rawValue + " "
    return
      "\(prefix)\(left.predicateFormat) \(op.rawValue)\(options.predicateFormat) \(right.predicateFormat)"
  }
}

extension PredicateTextOptions {
  var predicateFormat: String {
    let letters: [(PredicateTextOptions, String)] = [
      (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localized, "l"),
    ]
    let text = letters.filter { contains($0.0) }.map(\.1).joined()
    return text.isEmpty ? "" : "[\(text)]"
  }
}

extension ExpressionTree: CustomStringConvertible {
  /// The expression as text of a format string.
  public var predicateFormat: String {
    switch self {
    case .constant(let constant): constant.predicateFormat
    case .evaluatedObject: "SELF"
    case .keyPath(let path): PredicateKey.format(path)
    case .variable(let name): "$" + name
    case .variableKeyPath(let name, let path): "$\(name).\(PredicateKey.format(path))"
    case .projection(let base, let path): "\(base.predicateFormat).\(PredicateKey.format(path))"
    case .aggregate(let aggregate, let base): Self.format(aggregate, of: base)
    case .subquery(let collection, let variable, let predicate):
      "SUBQUERY(\(collection.predicateFormat), $\(variable), \(predicate.predicateFormat))"
    case .function(let function, let arguments): Self.format(function, arguments)
    case .call(let target, let selector, let arguments):
      "FUNCTION(\(([target, .constant(.string(selector))] + arguments).map(\.predicateFormat).joined(separator: ", ")))"
    case .list(let members): "{\(members.map(\.predicateFormat).joined(separator: ", "))}"
    case .conditional(let condition, let first, let second):
      "TERNARY(\(condition.predicateFormat), \(first.predicateFormat), \(second.predicateFormat))"
    }
  }

  public var description: String { predicateFormat }

  private static func format(_ aggregate: PredicateAggregate, of base: ExpressionTree) -> String {
    guard let (root, keys) = base.steps else { return "\(aggregate.selector)(\(base.predicateFormat))" }
    // The keys of the evaluated object are written without it.
    let prefix = if case .keyPath = base { [String]() } else { [root.predicateFormat] }
    var segments = prefix + keys.map(PredicateKey.format)
    // The operator precedes the last key, as in key-value coding: tags.@max.score.
    let behind = aggregate != .count && segments.count > 1
    segments.insert(aggregate.rawValue, at: behind ? segments.count - 1 : segments.count)
    return segments.joined(separator: ".")
  }

  private static func format(_ function: PredicateFunction, _ arguments: [ExpressionTree]) -> String {
    switch function {
    case .add, .subtract, .multiply, .divide, .power, .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight,
      .union, .intersect, .minus:
      return arguments.map(\.operandFormat).joined(separator: " \(function.rawValue) ")
    case .negate:
      return "-(\(arguments.map(\.predicateFormat).joined(separator: ", ")))"
    case .element where arguments.count == 2 && arguments[0].hasIndex:
      let index = arguments[1] == .constant(.integer(-1)) ? "LAST" : arguments[1].predicateFormat
      return "\(arguments[0].predicateFormat)[\(index)]"
    case .bitNot:
      return "~(\(arguments.map(\.predicateFormat).joined(separator: ", ")))"
    default:
      return "\(function.selector)(\(arguments.map(\.predicateFormat).joined(separator: ", ")))"
    }
  }

  /// Whether an index in brackets may stand behind the expression.
  private var hasIndex: Bool {
    switch self {
    case .keyPath, .variable, .variableKeyPath, .projection, .evaluatedObject, .list, .constant(.list),
      .subquery:
      true
    case .function(.element, let arguments): arguments.count == 2 && arguments[0].hasIndex
    default: false
    }
  }

  private var operandFormat: String {
    guard case .function(let function, _) = self else { return predicateFormat }
    switch function {
    case .add, .subtract, .multiply, .divide, .power, .negate, .bitAnd, .bitOr, .bitXor, .shiftLeft,
      .shiftRight, .bitNot, .union, .intersect, .minus:
      return "(\(predicateFormat))"
    default: return predicateFormat
    }
  }
}

extension PredicateConstant {
  var predicateFormat: String {
    switch self {
    case .null: return "nil"
    case .bool(let value): return value ? "1" : "0"
    case .integer(let value): return "\(value)"
    case .double(let value): return value.isFinite ? "\(value)" : "CAST(\"\(value)\", \"NSNumber\")"
    case .decimal(let value): return value.isNaN ? "CAST(\"NaN\", \"NSDecimalNumber\")" : "\(value)"
    case .string(let value): return Self.quoted(value)
    case .date(let value):
      return "CAST(\(Self.seconds(value.timeIntervalSinceReferenceDate)), \"NSDate\")"
    case .data(let value): return "CAST(\"\(value.base64EncodedString())\", \"NSData\")"
    case .uuid(let value): return "CAST(\"\(value.uuidString)\", \"NSUUID\")"
    case .url(let value): return "CAST(\(Self.quoted(value.absoluteString)), \"NSURL\")"
    case .object(let value): return value.reference.predicateDescription
    case .list(let members): return "{\(members.map(\.predicateFormat).joined(separator: ", "))}"
    }
  }

  /// Seconds with six decimals, as Core Data prints dates, or with as many digits as the value has.
  private static func seconds(_ value: Double) -> String {
    guard value.isFinite else { return Self.double(value).predicateFormat }
    let text = String(format: "%f", value)
    return Double(text) == value ? text : "\(value)"
  }

  /// Text between quotes, with escapes for quotes, backslashes and control characters.
  @_spi(CDE) public static func quoted(_ text: String) -> String {
    var result = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        result.append("\\")
        result.append(scalar)
      case "\n": result.append(contentsOf: "\\n".unicodeScalars)
      case "\r": result.append(contentsOf: "\\r".unicodeScalars)
      case "\t": result.append(contentsOf: "\\t".unicodeScalars)
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result.append(contentsOf: "\\x\(digits.count < 2 ? "0" : "")\(digits)".unicodeScalars)
      default: result.append(scalar)
      }
    }
    result.append("\"")
    return String(result)
  }
}

/// The form of keys in a format string.
enum PredicateKey {
  private static let reserved = Set(
    [
      "AND", "OR", "NOT", "ANY", "SOME", "ALL", "NONE", "TRUEPREDICATE", "FALSEPREDICATE", "SELF", "NIL",
      "NULL", "TRUE",
      "FALSE", "YES", "NO", "SUBQUERY", "CAST", "TERNARY", "FUNCTION", "SIZE", "FIRST", "LAST",
    ] + PredicateOperator.allCases.map(\.rawValue))

  static func format(_ path: [String]) -> String {
    path.map(format).joined(separator: ".")
  }

  /// The key itself. A reserved word gets a `#`, and a key that is no name is also quoted.
  static func format(_ key: String) -> String {
    let scalars = key.unicodeScalars
    guard let first = scalars.first, PredicateFormatLexer.startsName(first),
      scalars.allSatisfy(PredicateFormatLexer.continuesName)
    else { return "#" + PredicateConstant.quoted(key) }
    return reserved.contains(key.uppercased()) ? "#" + key : key
  }
}

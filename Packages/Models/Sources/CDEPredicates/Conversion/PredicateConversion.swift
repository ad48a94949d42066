public import Foundation

extension PredicateTree {
  /// The tree of a `#Predicate`. The root types name its key paths (``PredicateKeyPathNaming``).
  ///
  /// Optional chaining becomes a longer key path, and `?? false` a check for nil. `contains(where:)`,
  /// `allSatisfy` and `filter` become subqueries. A Boolean property alone is compared with true. An optional to-many relationship is
  /// never nil, but empty, as it is in a model. A part that depends on captured values alone is a constant.
  ///
  /// - Throws: ``PredicateTreeError``: `unsupported` names the construct without a translation (casts,
  ///   subscripts of stored values, captured collections of other types), `unnamedKeyPath` the property.
  public init<Input>(_ predicate: Predicate<Input>) throws(PredicateTreeError) {
    try self.init(predicate, naming: nil)
  }

  /// The same with the names of a layer of models.
  @_spi(CDE) public init<Input>(
    _ predicate: Predicate<Input>, naming: (any PredicateModelNaming)?
  ) throws(PredicateTreeError) {
    var conversion = PredicateConversion()
    conversion.naming = naming
    conversion.bindings[predicate.variable.key] = .evaluatedObject
    self = try conversion.predicate(predicate.expression)
  }
}

extension ExpressionTree {
  /// The tree of an `#Expression` over one object. Its key paths are named as in a `#Predicate`.
  ///
  /// - Throws: ``PredicateTreeError`` as for ``PredicateTree/init(_:)``.
  public init<Input, Output>(
    _ expression: Foundation.Expression<Input, Output>
  ) throws(PredicateTreeError) {
    var conversion = PredicateConversion()
    conversion.bindings[expression.variable.key] = .evaluatedObject
    self = try conversion.expression(expression.expression)
  }
}

/// An expression of Foundation's predicates that has a translation.
protocol ConvertibleExpression {
  typealias Node = PredicateConversion.Node

  func convert(_ conversion: inout PredicateConversion) throws(PredicateTreeError) -> Node
}

/// Translates Foundation's expression structs, which are all generic, into trees.
struct PredicateConversion {
  enum Node {
    case expression(ExpressionTree)
    case predicate(PredicateTree)
    /// `base?.something` with a Boolean result: nil when `base` is nil, otherwise the predicate.
    case optionalPredicate(base: ExpressionTree, PredicateTree)
    case range(lower: ExpressionTree?, upper: ExpressionTree?, closed: Bool)
    case filter(collection: ExpressionTree, variable: String, PredicateTree)
    case regex(String)
    /// The result of `compare` on text, to be compared with a `ComparisonResult`.
    case textOrder(ExpressionTree, ExpressionTree, PredicateTextOptions)
    case order(ComparisonResult)
    /// An object as one of a class, nil unless the condition is true.
    case cast(ExpressionTree, PredicateTree)
    /// A case of an enumeration, which is stored under a key of that name.
    case enumerationCase(String)
  }

  var naming: (any PredicateModelNaming)?
  var bindings: [PredicateExpressions.VariableID: ExpressionTree] = [:]
  private var names = 0
  private var depth = 0

  /// The maximum number of levels of an expression. Its type nests as deep, so the conversion is a recursion.
  private static let depthLimit = 200
  private static let nesting = "nesting"

  mutating func freshName() -> String {
    defer { names += 1 }
    return "x\(names)"
  }

  /// The translation of an expression. One without a translation that depends on nothing but captured values is a constant.
  mutating func node(_ expression: some Any) throws(PredicateTreeError) -> Node {
    let convertible = expression as? any ConvertibleExpression
    do throws(PredicateTreeError) {
      guard let convertible else { throw Self.unsupported(Self.name(of: type(of: expression))) }
      return try translated(convertible)
    } catch {
      guard [.unsupported, .unnamedKeyPath].contains(error.code), error.construct != Self.nesting,
        let computed = expression as? any PredicateExpression, let value = captured(computed)
      else { throw error }
      return value
    }
  }

  /// The value of an expression as a constant; nil if a query can't compare with it, or it depends on the object.
  private mutating func captured<E: PredicateExpression>(_ expression: E) -> Node? {
    // A part that reads the object throws, because no object is bound to the variable.
    (try? expression.evaluate(PredicateBindings())).flatMap {
      try? PredicateExpressions.Value($0).convert(&self)
    }
  }

  private mutating func translated(_ convertible: any ConvertibleExpression) throws(PredicateTreeError)
    -> Node
  {
    guard depth < Self.depthLimit else {
      throw PredicateTreeError(
        .unsupported, construct: Self.nesting,
        "the #Predicate nests deeper than \(Self.depthLimit) levels; convert its parts, and join their trees")
    }
    depth += 1
    defer { depth -= 1 }
    return try convertible.convert(&self)
  }

  /// The type's name without its generic arguments, which can be very long.
  static func name(of type: Any.Type) -> String {
    let name = String(describing: type)
    return String(name.prefix { $0 != "<" })
  }

  static func unsupported(_ construct: String, _ why: String = "") -> PredicateTreeError {
    PredicateTreeError(
      .unsupported, construct: construct,
      "\(construct) in #Predicate has no translation into a query\(why.isEmpty ? "" : ": " + why)")
  }

  mutating func expression(_ expression: some Any) throws(PredicateTreeError) -> ExpressionTree {
    switch try node(expression) {
    case .expression(let tree): return tree
    case .filter(let collection, let variable, let predicate):
      return .subquery(collection: collection, variable: variable, where: predicate)
    case .predicate(let tree):
      return .conditional(tree, then: .constant(.bool(true)), else: .constant(.bool(false)))
    case .optionalPredicate(let base, let tree):
      return .conditional(
        .not(Self.isPresent(base)), then: .constant(.null),
        else: .conditional(tree, then: .constant(.bool(true)), else: .constant(.bool(false))))
    case .cast(let base, let condition):
      return .conditional(condition, then: base, else: .constant(.null))
    case .range, .regex, .textOrder, .order, .enumerationCase:
      throw Self.unsupported(Self.name(of: type(of: expression)), "it is used where a value is expected")
    }
  }

  mutating func predicate(_ expression: some Any) throws(PredicateTreeError) -> PredicateTree {
    switch try node(expression) {
    case .predicate(let tree): return tree
    case .expression(let tree): return Self.truth(of: tree)
    case .optionalPredicate(let base, let tree):
      return .and([Self.isPresent(base), tree])
    default:
      throw Self.unsupported(Self.name(of: type(of: expression)), "it is used where a condition is expected")
    }
  }

  /// A Boolean value as a condition.
  static func truth(of tree: ExpressionTree) -> PredicateTree {
    if case .constant(.bool(let value)) = tree { return .constant(value) }
    if case .conditional(let condition, .constant(.bool(true)), .constant(.bool(false))) = tree {
      return condition
    }
    return .compare(tree, .equal, .constant(.bool(true)))
  }

  /// Equality of two nodes. Each may be a condition.
  ///
  /// - Parameter areMembers: whether they are members of relationships, which are nil only if their owner is.
  mutating func equality(
    _ left: some Any, _ right: some Any, ofMembers areMembers: Bool
  ) throws(PredicateTreeError) -> PredicateTree {
    switch (try node(left), try node(right)) {
    case (.expression(let members), .expression(.constant(.null))) where areMembers,
      (.expression(.constant(.null)), .expression(let members)) where areMembers:
      return Self.owner(of: members).map { .compare($0, .equal, .constant(.null)) } ?? .constant(false)
    case (.textOrder(let a, let b, let options), .order(let order)),
      (.order(let order), .textOrder(let a, let b, let options)):
      let op: PredicateOperator =
        switch order {
        case .orderedAscending: .less
        case .orderedSame: .equal
        case .orderedDescending: .greater
        }
      return .compare(a, op, b, options)
    case (.optionalPredicate(let base, let tree), .expression(let other)),
      (.expression(let other), .optionalPredicate(let base, let tree)):
      let present = Self.isPresent(base)
      switch other {
      case .constant(.null): return .not(present)
      case .constant(.bool(let value)): return .and([present, value ? tree : .not(tree)])
      default: break
      }
      let same = Self.same(tree, Self.truth(of: other))
      return .and([present, .compare(other, .notEqual, .constant(.null)), same])
    case (.cast(_, let condition), .expression(.constant(.null))),
      (.expression(.constant(.null)), .cast(_, let condition)):
      return .not(condition)
    case (.expression(let value), .enumerationCase(let name)),
      (.enumerationCase(let name), .expression(let value)):
      return .compare(try Self.appending([name], to: value), .equal, .constant(.string(name)))
    case (.expression(let a), .expression(let b)): return .compare(a, .equal, b)
    case (.predicate(let tree), .expression(.constant(.bool(let value)))),
      (.expression(.constant(.bool(let value))), .predicate(let tree)):
      return value ? tree : .not(tree)
    case (.predicate(let a), .expression(let b)), (.expression(let b), .predicate(let a)):
      return .and([.compare(b, .notEqual, .constant(.null)), Self.same(a, Self.truth(of: b))])
    case (.predicate(let a), .predicate(let b)): return Self.same(a, b)
    default: throw Self.unsupported("==", "of \(Self.name(of: type(of: left)))")
    }
  }

  private static func same(_ a: PredicateTree, _ b: PredicateTree) -> PredicateTree {
    .or([.and([a, b]), .and([.not(a), .not(b)])])
  }

  /// Converts a closure's body with its parameter bound to `value`.
  mutating func binding<T>(
    _ variable: PredicateExpressions.VariableID, to value: ExpressionTree,
    _ body: (inout Self) throws(PredicateTreeError) -> T
  ) throws(PredicateTreeError) -> T {
    bindings[variable] = value
    return try body(&self)
  }

  /// Appends several keys to an expression.
  static func appending(_ keys: [String], to base: ExpressionTree) throws(PredicateTreeError)
    -> ExpressionTree
  {
    guard let value = base.appending(keys) else {
      throw unsupported("KeyPath", "a property of a computed value")
    }
    return value
  }
}

public import Foundation

/// Core Data's `NSExpression`: an ``ExpressionTree`` as an object, or the error of making it.
///
/// Foundation declares `NSExpression` on Linux without usable initialisers, so the class has a name of its
/// own. Immutable. As with ``TreePredicate``, a malformed format does not trap: the expression stores the
/// error, and every use of the expression throws it or has no value.
///
/// Expressions are equal if their trees are. Subclasses exist for archives alone.
public class TreeExpression: NSObject, NSCopying, NSSecureCoding, ExpressionArgument {
  /// How an expression was made, where the tree alone does not tell it.
  enum Form {
    case plain
    /// A list that was given as one value, and not as expressions.
    case listConstant
    /// A function called by its name. The tree writes `sum:(tags.score)` as `tags.@sum.score`.
    case function(String, [TreeExpression])
  }

  /// The tree, or the error of the format or argument.
  public let result: Result<ExpressionTree, PredicateTreeError>
  let form: Form

  /// Makes an expression of a tree. If the tree is nested too deeply, the expression contains an error.
  public convenience init(_ tree: ExpressionTree) {
    self.init(.success(tree))
  }

  /// Makes an expression of a tree or of the error that each use throws.
  public convenience init(_ result: Result<ExpressionTree, PredicateTreeError>) {
    self.init(result, .plain)
  }

  init(_ result: Result<ExpressionTree, PredicateTreeError>, _ form: Form) {
    self.result = result.flatMap { tree in
      tree.isDeeper(than: PredicateTree.expressionLimit) ? .failure(PredicateTree.tooDeep) : .success(tree)
    }
    self.form = form
    super.init()
  }

  /// Reads an expression from a keyed archive in Core Data's form. See ``PredicateArchives``.
  public required init?(coder: NSCoder) {
    guard let (result, form) = Self.decoded(coder) else { return nil }
    self.result = result
    self.form = form
    super.init()
  }

  public class var supportsSecureCoding: Bool { true }

  /// Writes the expression to a keyed archive in Core Data's form. See ``PredicateArchives``.
  public func encode(with coder: NSCoder) { write(to: coder) }

  public override var classForKeyedArchiver: AnyClass? { archivedClass }

  /// The tree of the expression.
  ///
  /// - Throws: ``PredicateTreeError``: the error of the format or argument.
  public func expressionTree() throws(PredicateTreeError) -> ExpressionTree { try result.get() }

  /// The expression as text of a format string. An expression with an error prints the error.
  public override var description: String {
    if case .function(let name, let arguments) = form {
      if let function = try? result.get(), case .function = function { return function.predicateFormat }
      return "\(name)(\(arguments.map(\.description).joined(separator: ", ")))"
    }
    switch result {
    case .success(let tree): return tree.predicateFormat
    case .failure(let error): return error.description
    }
  }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? TreeExpression)?.result == result
  }

  public override var hash: Int { result.hashValue }

  public override func copy() -> Any { self }

  public func copy(with zone: NSZone? = nil) -> Any { self }
}

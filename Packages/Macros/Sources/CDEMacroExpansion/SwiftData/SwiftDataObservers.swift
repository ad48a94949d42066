import SwiftSyntax
import SwiftSyntaxBuilder

/// The `willSet` and `didSet` of a persisted property, which its setter runs.
struct SwiftDataObservers {
  private let willSet: AccessorDeclSyntax?
  private let didSet: AccessorDeclSyntax?

  /// Nil for a property without observers.
  init?(_ variable: VariableDeclSyntax) {
    guard case .accessors(let accessors)? = variable.bindings.first?.accessorBlock?.accessors else {
      return nil
    }
    willSet = accessors.first { $0.accessorSpecifier.tokenKind == .keyword(.willSet) }
    didSet = accessors.first { $0.accessorSpecifier.tokenKind == .keyword(.didSet) }
    if willSet == nil, didSet == nil { return nil }
  }

  /// The setter around a plain one. A set inside of an observer runs none, as with a stored property.
  func setter(of name: String, getting: String, setting: String) -> AccessorDeclSyntax {
    var lines = [
      "if _\(name).isObserved { return \(setting) }",
      "_\(name).isObserved = true",
      "defer { _\(name).isObserved = false }",
    ]
    if let didSet, let old = oldName(didSet) { lines.append("let \(old) = \(getting)") }
    if let willSet {
      if let own = willSet.parameters?.name.text { lines.append("let \(own) = newValue") }
      lines.append(call(willSet, of: name))
    }
    lines.append(setting)
    if let didSet { lines.append(call(didSet, of: name)) }
    return "set {\n\(raw: lines.joined(separator: "\n"))\n}"
  }

  /// The name of the old value in `didSet`; nil if it does not use it.
  private func oldName(_ didSet: AccessorDeclSyntax) -> String? {
    if let own = didSet.parameters?.name.text { return own }
    let usesIt = didSet.body?.tokens(viewMode: .sourceAccurate).contains { $0.text == "oldValue" } ?? false
    return usesIt ? "oldValue" : nil
  }

  /// A closure, so that a `return` leaves the observer alone.
  private func call(_ observer: AccessorDeclSyntax, of name: String) -> String {
    guard let statements = observer.body?.statements else { return "" }
    return "({ () -> Swift.Void in\n\(SelfWriter(name).rewrite(statements).description)\n})()"
  }
}

/// Writes `self` before the name of a property: the compiler warns of a setter that names its property without it.
private final class SelfWriter: SyntaxRewriter {
  private let name: String

  init(_ name: String) { self.name = name }

  func rewrite(_ statements: CodeBlockItemListSyntax) -> Syntax {
    // Another declaration of the name may hide the property.
    let isHidden = statements.tokens(viewMode: .sourceAccurate).contains { token in
      token.text == name && token.parent?.is(DeclReferenceExprSyntax.self) != true
        && token.parent?.is(LabeledExprSyntax.self) != true
    }
    return isHidden ? Syntax(statements) : super.rewrite(statements)
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
    let isMember = node.parent?.as(MemberAccessExprSyntax.self)?.declName.id == node.id
    let isStep = node.parent?.is(KeyPathPropertyComponentSyntax.self) == true
    guard node.baseName.text == name, node.argumentNames == nil, !isMember, !isStep else {
      return ExprSyntax(node)
    }
    return ExprSyntax("\(node.leadingTrivia)self.\(node.baseName.trimmed)\(node.trailingTrivia)")
  }
}

extension SwiftDataProperty {
  var observers: SwiftDataObservers? { SwiftDataObservers(variable) }

  /// The type of what stands for the property in checks that an initialiser sets all.
  var markerType: String { observers == nil ? "_SwiftDataNoType" : "CDESwiftData._ObservedProperty" }
}

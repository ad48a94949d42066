internal import SwiftSyntax

// `#selector(changed(_:))` becomes a value that carries the function.
extension RewritingVisitor {
  /// Types whose selectors name a way to compare, where no function is needed.
  private static let comparisons: Set<String> = ["NSString", "String", "NSNumber", "NSDate"]

  func rewriteSelector(_ node: MacroExpansionExprSyntax) {
    guard let argument = node.arguments.first, node.arguments.count == 1 else { return }
    needsImport = true
    if let accessor = argument.label?.text {
      // `getter: Item.title` and `setter: Item.title` are names for key-value coding.
      let name = argument.expression.trimmedDescription.split(separator: ".").last.map(String.init) ?? ""
      let text = accessor == "getter" ? name : "set\(name.prefix(1).uppercased())\(name.dropFirst()):"
      edits.replace(node, with: "Selector(\"\(text)\")")
      return
    }
    guard let (base, reference) = parts(of: argument.expression) else {
      report(
        .error, at: node,
        "This form of #selector can't be rewritten. Name a function of a class: #selector(Class.changed(_:))."
      )
      return
    }
    let name = selectorName(reference)
    if let base, Self.comparisons.contains(base) {
      edits.replace(node, with: "Selector(\"\(name)\")")
      return
    }
    let owner = base ?? scope.name
    guard !owner.isEmpty else {
      edits.replace(node, with: "Selector(\"\(name)\")")
      return
    }
    guard owner.first?.isUppercase == true else {
      // The object says of which class the function is.
      edits.replace(
        node, with: "Selector(\"\(name)\", of: \(owner)) { $0.\(reference.trimmedDescription) }")
      return
    }
    edits.replace(node, with: "Selector(\"\(name)\", \(owner).\(reference.trimmedDescription))")
  }

  /// The type and the function of `Type.name(_:)`, `self.name` and `name(_:)`.
  private func parts(of expression: ExprSyntax) -> (base: String?, DeclReferenceExprSyntax)? {
    if let reference = expression.as(DeclReferenceExprSyntax.self) { return (nil, reference) }
    guard let member = expression.as(MemberAccessExprSyntax.self), let base = member.base else { return nil }
    let name = base.trimmedDescription
    return (["self", "Self", "type(of: self)"].contains(name) ? nil : name, member.declName)
  }

  /// The Objective-C name of a function.
  private func selectorName(_ reference: DeclReferenceExprSyntax) -> String {
    var text = reference.baseName.text
    for (number, argument) in (reference.argumentNames?.arguments ?? []).enumerated() {
      let label = argument.name.text
      if label != "_" {
        text += number == 0 ? "With\(label.prefix(1).uppercased())\(label.dropFirst())" : label
      }
      text += ":"
    }
    return text
  }
}

internal import SwiftSyntax

/// A member of an extension that overrides another one, or that a subclass overrides.
///
/// On Apple's platforms the Objective-C runtime dispatches such members. Swift's own dispatch knows members of a class's body
/// only, so the body gets a member that calls the one in the extension, which has another name then.
struct LiftedMember: Codable, Equatable, Sendable {
  /// The name with the labels of parameters: `title`, `cloneFrom(_:)`.
  var key: String
  /// Whether the member has the modifier `override`.
  var isOverride: Bool
  /// What the member in the extension is called.
  var implementation: String
  /// The member of the class's body.
  var forwarder: String

  /// The member in its lifted form; nil for one that can't be lifted.
  ///
  /// - Parameters:
  ///   - declaration: a member of an extension.
  ///   - type: the extended type, as written.
  ///   - access: the access modifier of the extension, if it has one.
  init?(_ declaration: DeclSyntax, of type: String, access: String?) {
    guard let key = Self.key(of: declaration),
      let modifiers = declaration.asProtocol((any WithModifiersSyntax).self)?.modifiers
    else { return nil }
    let names = modifiers.map(\.name.text)
    if names.contains(where: { ["private", "fileprivate", "static", "final"].contains($0) }) { return nil }
    self.key = key
    isOverride = names.contains("override")
    let name = key.prefix { $0 != "(" }.filter { $0 != "`" }
    implementation = "_cdLifted_\(type.map { $0 == "." ? "_" : String($0) }.joined())_\(name)"
    let own = names.first { ["open", "public", "package", "internal"].contains($0) } ?? access
    // A member that overrides another one is at least as visible as the class.
    var start = isOverride ? "public override " : own.map { "\($0) " } ?? ""
    if names.contains("class") { start += "class " }
    guard let text = Self.forwarder(declaration, calling: implementation) else { return nil }
    forwarder = start + text
  }

  /// The name by which an override finds the member that it overrides; nil for a declaration of another kind.
  static func key(of declaration: DeclSyntax) -> String? {
    if let function = declaration.as(FunctionDeclSyntax.self) {
      return function.name.text + "("
        + function.signature.parameterClause.parameters.map { "\($0.firstName.text):" }.joined() + ")"
    }
    if let variable = declaration.as(VariableDeclSyntax.self), variable.bindings.count == 1 {
      return variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
    }
    return nil
  }

  private static func forwarder(_ declaration: DeclSyntax, calling name: String) -> String? {
    if let function = declaration.as(FunctionDeclSyntax.self) { return forwarder(function, name) }
    guard let binding = declaration.as(VariableDeclSyntax.self)?.bindings.first,
      let type = binding.typeAnnotation?.type.trimmedDescription, let block = binding.accessorBlock
    else { return nil }
    var isSettable = false
    if case .accessors(let list) = block.accessors {
      isSettable = list.contains { $0.accessorSpecifier.text == "set" }
      if list.contains(where: { $0.effectSpecifiers != nil }) { return nil }
    }
    let accessors = isSettable ? "get { self.\(name) } set { self.\(name) = newValue }" : "self.\(name)"
    return oneLine("var \(binding.pattern.trimmedDescription): \(type) { \(accessors) }")
  }

  private static func forwarder(_ function: FunctionDeclSyntax, _ name: String) -> String? {
    var arguments: [String] = []
    for parameter in function.signature.parameterClause.parameters {
      let type = parameter.type.trimmedDescription
      guard parameter.ellipsis == nil, !type.contains("@autoclosure") else { return nil }
      let value =
        (type.hasPrefix("inout ") ? "&" : "") + (parameter.secondName ?? parameter.firstName).text
      let label = parameter.firstName.text
      arguments.append(label == "_" ? value : "\(label): \(value)")
    }
    let effects = function.signature.effectSpecifiers
    let marks =
      (effects?.throwsClause == nil ? "" : "try ") + (effects?.asyncSpecifier == nil ? "" : "await ")
    let generics = function.genericParameterClause?.trimmedDescription ?? ""
    let rest = function.genericWhereClause.map { " \($0.trimmedDescription)" } ?? ""
    return oneLine(
      "func \(function.name.text)\(generics)\(function.signature.trimmedDescription)\(rest) "
        + "{ \(marks)self.\(name)(\(arguments.joined(separator: ", "))) }")
  }

  private static func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}

extension RewritingVisitor {
  /// Renames the members of an extension that the class's body calls.
  func rewriteExtension(_ node: ExtensionDeclSyntax) {
    let access = node.accessModifier
    for member in node.memberBlock.members {
      if let function = member.decl.as(FunctionDeclSyntax.self), Self.isObserving(function) {
        rewriteObserver(function, in: node)
        continue
      }
      guard let lifted = LiftedMember(member.decl, of: scope.name, access: access) else { continue }
      guard let type = index.fullName(of: scope.name), node.genericWhereClause == nil else {
        if lifted.isOverride { reportOverride(member.decl) }
        continue
      }
      guard index.isLifted(lifted, of: type) else { continue }
      rename(member.decl, to: lifted.implementation)
    }
  }

  private func rename(_ declaration: DeclSyntax, to name: String) {
    let modifiers = declaration.asProtocol((any WithModifiersSyntax).self)?.modifiers ?? []
    for modifier in modifiers where modifier.name.text == "override" { edits.remove(modifier, in: bytes) }
    if let function = declaration.as(FunctionDeclSyntax.self) { edits.replace(function.name, with: name) }
    if let binding = declaration.as(VariableDeclSyntax.self)?.bindings.first {
      edits.replace(binding.pattern, with: name)
    }
  }

  private func reportOverride(_ declaration: DeclSyntax) {
    report(
      .error, at: declaration,
      "On Linux an extension can override only members of a class that this target declares, and not under a condition on "
        + "types. Move the override into the body of the class.")
  }

  /// The members that the class's body gets for its extensions.
  func liftedMembers() -> [String] {
    guard let type = index.classes[scope.name] else { return [] }
    return type.lifted.filter { index.isLifted($0, of: scope.name) }.map(\.forwarder)
  }
}

extension ExtensionDeclSyntax {
  /// The modifier that its members have without one of their own.
  var accessModifier: String? {
    modifiers.map(\.name.text).first {
      ["public", "package", "internal", "private", "fileprivate"].contains($0)
    }
  }
}

internal import SwiftIfConfig
internal import SwiftSyntax

/// Collects what other files need to know about one file.
final class FactCollector: ScopedVisitor {
  private(set) var facts = FileFacts()
  private let tree: SourceFileSyntax
  /// Which branches of `#if` are compiled, if the target depends on all replacements.
  private lazy var regions = tree.configuredRegions(in: LinuxConfiguration(modules: SourceIndex.allModules))
  /// Whether the members of the extension around the place have `@objc` by the extension's.
  private(set) var isExposedExtension = false

  init(_ tree: SourceFileSyntax) {
    self.tree = tree
    super.init(viewMode: .sourceAccurate)
    walk(tree)
  }

  override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
    if let name = node.path.first?.name.text { facts.imports.append(name) }
    return .skipChildren
  }

  override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
    scope.enter(node.name.text)
    let hidden: Set<String> = ["private", "fileprivate"]
    facts.types.append(
      .init(
        name: scope.name, isExtension: false,
        superclass: node.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription,
        objectiveCName: node.attributes.objectiveCName,
        isVisible: !node.modifiers.contains { hidden.contains($0.name.text) }
          && node.genericParameterClause == nil
          && !scope.isLocal,
        isOnMainActor: isIsolated(node.attributes), properties: [:]))
    facts.types[facts.types.count - 1].isExposed = node.attributes.first(named: "objcMembers") != nil
    collect(node.memberBlock.members, isHidden: isIsolated(node.attributes))
    return .visitChildren
  }

  override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
    scope.enter(node.extendedType.trimmedDescription)
    facts.types.append(.init(name: scope.name, isExtension: true))
    isExposedExtension = node.attributes.first(named: "objc") != nil
    defer { isExposedExtension = false }
    if node.genericWhereClause == nil { collectLifted(node) }
    collect(
      node.memberBlock.members,
      isHidden: isIsolated(node.attributes) || node.genericWhereClause != nil
        || node.modifiers.contains { ["private", "fileprivate"].contains($0.name.text) })
    return .visitChildren
  }

  override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind {
    scope.localDepth += 1
    return .visitChildren
  }
  override func visitPost(_ node: CodeBlockSyntax) { scope.localDepth -= 1 }

  override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
    for member in node.memberBlock.members {
      guard let function = member.decl.as(FunctionDeclSyntax.self),
        function.modifiers.contains(where: { $0.name.text == "optional" })
      else { continue }
      facts.optionalMembers.append(function.name.text)
    }
    return .skipChildren
  }

  /// Whether a function `validate<Key>` checks one value, and the class's body can call it.
  private func isValidating(_ function: FunctionDeclSyntax, _ type: FileFacts.TypeFacts) -> Bool {
    let name = function.name.text
    let parameters = function.signature.parameterClause.parameters
    guard name.hasPrefix("validate"), let first = name.dropFirst("validate".count).first, !first.isLowercase,
      function.signature.effectSpecifiers?.throwsClause != nil, parameters.count == 1,
      let parameter = parameters.first, parameter.firstName.text == "_"
    else { return false }
    // A function that overrides another one is called by it.
    let hidden: Set<String> = type.isExtension ? ["private", "fileprivate"] : []
    return parameter.type.trimmedDescription.contains("UnsafeMutablePointer<AnyObject?>")
      && !function.modifiers.contains {
        ["static", "class", "override"].contains($0.name.text) || hidden.contains($0.name.text)
      }
  }

  /// The name of a member `keyPathsForValuesAffecting<Key>` of the class, with what calls it; nil for another member.
  ///
  /// A member that overrides another one is called by it.
  private func affecting(
    _ name: String, _ type: String?, _ modifiers: DeclModifierListSyntax, isExtension: Bool
  ) -> String? {
    let start = "keyPathsForValuesAffecting"
    let hidden: Set<String> = isExtension ? ["override", "private", "fileprivate"] : ["override"]
    guard name.hasPrefix(start), name != "\(start)Value", name.count > start.count,
      type?.filter({ $0 != " " }) == "Set<String>",
      modifiers.contains(where: { ["static", "class"].contains($0.name.text) }),
      !modifiers.contains(where: { hidden.contains($0.name.text) })
    else { return nil }
    return name
  }

  private func collectAffecting(_ member: MemberBlockItemSyntax, _ index: Int) {
    let isExtension = facts.types[index].isExtension
    if let function = member.decl.as(FunctionDeclSyntax.self),
      function.signature.parameterClause.parameters.isEmpty,
      let name = affecting(
        function.name.text, function.signature.returnClause?.type.trimmedDescription, function.modifiers,
        isExtension: isExtension)
    {
      facts.types[index].affecting.append("\(name)()")
    }
    if let variable = member.decl.as(VariableDeclSyntax.self), let binding = variable.bindings.first,
      let name = affecting(
        binding.pattern.trimmedDescription, binding.typeAnnotation?.type.trimmedDescription,
        variable.modifiers, isExtension: isExtension)
    {
      facts.types[index].affecting.append(name)
    }
  }

  private func collectLifted(_ node: ExtensionDeclSyntax) {
    for member in node.memberBlock.members {
      if let function = member.decl.as(FunctionDeclSyntax.self), RewritingVisitor.isObserving(function) {
        continue
      }
      if let lifted = LiftedMember(member.decl, of: scope.name, access: node.accessModifier) {
        facts.types[facts.types.count - 1].lifted.append(lifted)
      }
    }
  }

  /// A key path to a variable of an actor can't be formed everywhere.
  func isIsolated(_ attributes: AttributeListSyntax) -> Bool {
    attributes.first(named: "MainActor") != nil
  }

  /// The variables of a type, also those inside `#if`.
  private func collect(_ members: MemberBlockItemListSyntax, isHidden: Bool, isCompiled: Bool = true) {
    let index = facts.types.count - 1
    for member in members {
      let modifiers = member.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers ?? []
      if modifiers.contains(where: { $0.name.text == "override" }),
        let key = LiftedMember.key(of: member.decl)
      {
        facts.types[index].overrides.insert(key)
      }
      if let condition = member.decl.as(IfConfigDeclSyntax.self) {
        for clause in condition.clauses {
          if case .decls(let inner)? = clause.elements {
            collect(inner, isHidden: true, isCompiled: isCompiled && regions.isActive(inner) == .active)
          }
        }
        continue
      }
      if let function = member.decl.as(FunctionDeclSyntax.self), RewritingVisitor.isObserving(function) {
        facts.types[index].isObserving = true
      }
      if let function = member.decl.as(FunctionDeclSyntax.self), isValidating(function, facts.types[index]) {
        facts.types[index].validators.append(function.name.text)
      }
      collectAffecting(member, index)
      if isCompiled, let function = member.decl.as(FunctionDeclSyntax.self),
        let computed = computed(function, facts.types[index])
      {
        facts.types[index].computed.append(computed)
      }
      guard let variable = member.decl.as(VariableDeclSyntax.self),
        !variable.modifiers.contains(where: { ["static", "class"].contains($0.name.text) })
      else { continue }
      let isHiddenHere =
        isHidden || isIsolated(variable.attributes) || variable.attributes.first(named: "available") != nil
        || variable.modifiers.contains {
          ["private", "fileprivate"].contains($0.name.text) && $0.detail == nil
        }
      // As in Swift, `var a, b: Int` gives its type to both.
      var type = ""
      for binding in variable.bindings.reversed() {
        if let written = binding.typeAnnotation?.type.trimmedDescription { type = written }
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text else { continue }
        facts.types[index].properties[name] = type
        if isHiddenHere { facts.types[index].hidden.insert(name) }
        if let key = variable.attributes.objectiveCName { facts.types[index].keys[name] = key }
        if variable.attributes.first(named: "NSManaged") != nil { facts.types[index].managed.insert(name) }
        if isCompiled, let computed = computed(variable, binding, name, facts.types[index]) {
          facts.types[index].computed.append(computed)
        }
      }
    }
  }
}

/// The names of the types around a place in a file.
struct TypeScope {
  private(set) var names: [String] = []
  /// How many function bodies are around the place.
  var localDepth = 0

  var isLocal: Bool { localDepth > 0 }
  /// The names, separated by points.
  var name: String { names.joined(separator: ".") }

  mutating func enter(_ name: String) { names.append(name) }
  mutating func leave() { names.removeLast() }
}

extension AttributeListSyntax {
  /// The attribute of a name, outside `#if`.
  func first(named name: String) -> AttributeSyntax? {
    lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.attributeName.trimmedDescription == name }
  }

  /// The name in `@objc(Name)`.
  var objectiveCName: String? {
    guard let attribute = first(named: "objc"), let arguments = attribute.arguments else { return nil }
    return arguments.trimmedDescription
  }
}

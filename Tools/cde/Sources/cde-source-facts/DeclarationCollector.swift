import CDESourceFacts
import SwiftSyntax

/// Collects the types of a file. What stands in functions is left out: no model is local.
final class DeclarationCollector: SyntaxVisitor {
  private(set) var types: [SourceFacts.TypeDeclaration] = []
  private let placing: Placing
  private var scope: [String] = []

  init(_ placing: Placing) {
    self.placing = placing
    super.init(viewMode: .sourceAccurate)
  }

  override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: InitializerClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
    scope.append(node.extendedType.trimmedDescription)
    return .visitChildren
  }
  override func visitPost(_ node: ExtensionDeclSyntax) { scope.removeLast() }

  override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(.class, node, node.name, node.modifiers, node.inheritanceClause)
  }
  override func visitPost(_ node: ClassDeclSyntax) { scope.removeLast() }

  override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(.struct, node, node.name, node.modifiers, node.inheritanceClause)
  }
  override func visitPost(_ node: StructDeclSyntax) { scope.removeLast() }

  override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
    enter(.enum, node, node.name, node.modifiers, node.inheritanceClause)
  }
  override func visitPost(_ node: EnumDeclSyntax) { scope.removeLast() }

  override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind {
    scope.append(node.name.bareName)
    return .visitChildren
  }
  override func visitPost(_ node: ActorDeclSyntax) { scope.removeLast() }

  private func enter(
    _ kind: SourceFacts.TypeDeclaration.Kind, _ node: some DeclGroupSyntax, _ name: TokenSyntax,
    _ modifiers: DeclModifierListSyntax, _ inheritance: InheritanceClauseSyntax?
  ) -> SyntaxVisitorContinueKind {
    scope.append(name.bareName)
    var members = MemberCollector(placing: placing)
    members.collect(node.memberBlock.members, isConditional: false)
    types.append(
      .init(
        kind: kind, name: scope.joined(separator: "."), place: placing.place(of: name),
        modifiers: modifiers.map(\.trimmedDescription),
        inherited: inheritance?.inheritedTypes.map { placing.text(of: $0.type) } ?? [],
        attributes: placing.attributes(node.attributes), properties: members.properties, cases: members.cases,
        macros: members.macros))
    return .visitChildren
  }
}

/// Collects the members of one type.
private struct MemberCollector {
  let placing: Placing
  var properties: [SourceFacts.Property] = []
  var cases: [SourceFacts.EnumerationCase] = []
  var macros: [SourceFacts.Attribute] = []

  mutating func collect(_ members: MemberBlockItemListSyntax, isConditional: Bool) {
    for member in members {
      if let variable = member.decl.as(VariableDeclSyntax.self) {
        add(variable, isConditional)
      } else if let list = member.decl.as(EnumCaseDeclSyntax.self) {
        cases += list.elements.map { element in
          .init(name: element.name.bareName, rawValue: element.rawValue.map { placing.text(of: $0.value) })
        }
      } else if let macro = member.decl.as(MacroExpansionDeclSyntax.self) {
        macros.append(
          .init(
            name: macro.macroName.text, place: placing.place(of: macro), inside: nil,
            arguments: macro.arguments.map(placing.argument)))
      } else if let block = member.decl.as(IfConfigDeclSyntax.self) {
        for case .decls(let list)? in block.clauses.map(\.elements) { collect(list, isConditional: true) }
      }
    }
  }

  private mutating func add(_ variable: VariableDeclSyntax, _ isConditional: Bool) {
    let modifiers = variable.modifiers.map(\.name.text)
    let attributes = placing.attributes(variable.attributes)
    for binding in variable.bindings {
      guard let token = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else { continue }
      properties.append(
        .init(
          name: token.bareName, place: placing.place(of: token), declaration: placing.place(of: variable),
          isVariable: variable.bindingSpecifier.text == "var",
          isStatic: modifiers.contains("static") || modifiers.contains("class"),
          isLazy: modifiers.contains("lazy"), isComputed: binding.hasGetter, isConditional: isConditional,
          siblings: variable.bindings.count, type: binding.typeAnnotation.map { placing.text(of: $0.type) },
          initialValue: binding.initializer.map { placing.text(of: $0.value) }, attributes: attributes))
    }
  }
}

extension Placing {
  func attributes(_ list: AttributeListSyntax) -> [SourceFacts.Attribute] {
    list.flatMap { element -> [SourceFacts.Attribute] in
      if let attribute = element.as(AttributeSyntax.self) { return [self.attribute(attribute)] }
      guard let block = element.as(IfConfigDeclSyntax.self) else { return [] }
      return block.clauses.flatMap { clause -> [SourceFacts.Attribute] in
        guard case .attributes(let inner)? = clause.elements else { return [] }
        return attributes(inner)
      }
    }
  }

  private func attribute(_ attribute: AttributeSyntax) -> SourceFacts.Attribute {
    let name = attribute.attributeName.trimmedDescription
    var arguments: [SourceFacts.Argument] = []
    if case .argumentList(let list)? = attribute.arguments {
      arguments = list.map(argument)
    } else if let other = attribute.arguments {
      let text = text(of: other)
      arguments = [.init(label: nil, value: text, place: text.place)]
    }
    var inside: SourceFacts.Place?
    if let left = attribute.leftParen, let right = attribute.rightParen {
      inside = place(left.endPositionBeforeTrailingTrivia, right.positionAfterSkippingLeadingTrivia)
    }
    return .init(
      name: name.split(separator: ".").last.map(String.init) ?? name, place: place(of: attribute),
      inside: inside, arguments: arguments)
  }

  func argument(_ argument: LabeledExprSyntax) -> SourceFacts.Argument {
    let value = text(of: argument.expression)
    let start = argument.positionAfterSkippingLeadingTrivia
    return .init(
      label: argument.label?.text, value: value,
      place: place(start, argument.expression.endPositionBeforeTrailingTrivia))
  }
}

extension PatternBindingSyntax {
  fileprivate var hasGetter: Bool {
    guard let accessors = accessorBlock?.accessors else { return false }
    guard let list = accessors.as(AccessorDeclListSyntax.self) else { return true }
    return !list.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
  }
}

extension TokenSyntax {
  fileprivate var bareName: String {
    text.hasPrefix("`") && text.hasSuffix("`") && text.count > 2 ? String(text.dropFirst().dropLast()) : text
  }
}

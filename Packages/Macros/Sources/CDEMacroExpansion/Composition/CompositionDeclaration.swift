import SwiftDiagnostics
import SwiftSyntax

/// A composition as the expansion sees it.
struct CompositionDeclaration {
  /// One stored property.
  struct Field {
    /// The name as code spells it, backticks included.
    let identifier: String
    let name: String
    let persistentName: String
    let type: TypeSyntax
    let shape: TypeShape
    let primitive: Primitive
    /// Source text of the declared default.
    let defaultExpression: String?
    let declaration: VariableDeclSyntax
  }

  let name: String
  let access: AccessLevel
  let fields: [Field]

  /// Reads the struct; what is wrong with it goes into `diagnostics`. Nil when no member can be made.
  init?(
    _ declaration: some DeclGroupSyntax, marker: AttributeSyntax, diagnostics: inout [Diagnostic]
  ) {
    guard let type = declaration.as(StructDeclSyntax.self) else {
      diagnostics.append(Self.notAStruct(declaration, marker))
      return nil
    }
    if let generics = type.genericParameterClause {
      diagnostics.append(
        .make(
          "genericComposition", at: generics,
          "@Composition does not support generic structs, because a composition's fields are part of the "
            + "model; write the types out.",
          fixIts: [.trimming("Remove the generic parameters", generics)]))
      return nil
    }
    name = type.name.text
    access = AccessLevel(of: type)
    var fields: [Field] = []
    var found: [Diagnostic] = []
    if let problem = ReservedName.problem(
      type.name, in: ReservedName.ofCompositions, what: "composition", remedy: "name the structure otherwise."
    ) {
      found.append(problem)
    }
    for item in type.memberBlock.members {
      if let variable = item.decl.as(VariableDeclSyntax.self) {
        Self.read(variable, into: &fields, &found)
      } else if let block = item.decl.as(IfConfigDeclSyntax.self), Self.declaresVariables(block) {
        found.append(
          .make(
            "conditionalField", at: block,
            "A field of a @Composition cannot stand inside `#if`, because the model must be the same in "
              + "every build; move it out."))
      }
    }
    self.fields = fields
    if fields.isEmpty, found.isEmpty {
      found.append(
        .make(
          "emptyComposition", at: type.name,
          "@Composition needs at least one field, such as `var latitude: Double`."))
    }
    found += Self.nameClashes(fields)
    found += fields.compactMap { field in
      field.declaration.bindings.first.flatMap {
        ReservedName.problem(
          ofProperty: field.name, at: $0.pattern,
          keeping: "`@CompositionField(persistentName: \(field.persistentName.quoted))`")
      }
    }
    if found.isEmpty, let missing = Self.missingInitializer(type, fields) { found.append(missing) }
    diagnostics += found
    if !found.isEmpty { return nil }
  }

  private static func notAStruct(
    _ declaration: some DeclGroupSyntax, _ marker: AttributeSyntax
  ) -> Diagnostic {
    var fixIts: [FixIt] = []
    if let type = declaration.as(ClassDeclSyntax.self), type.inheritanceClause == nil {
      fixIts = [.replacing("Use `struct`", type.classKeyword, with: "struct")]
    }
    return .make(
      "notAStruct", at: marker,
      "@Composition can only be attached to a struct: its values are copied into the object they are part "
        + "of.", fixIts: fixIts)
  }

  private static func declaresVariables(_ block: IfConfigDeclSyntax) -> Bool {
    block.clauses.contains { clause in
      guard case .decls(let list)? = clause.elements else { return false }
      return list.contains { $0.decl.is(VariableDeclSyntax.self) || $0.decl.is(IfConfigDeclSyntax.self) }
    }
  }

  private static func read(
    _ variable: VariableDeclSyntax, into fields: inout [Field], _ found: inout [Diagnostic]
  ) {
    if variable.modifiers.contains(.static) { return }
    guard variable.bindingSpecifier.tokenKind == .keyword(.var) else {
      found.append(
        .make(
          "compositionLet", at: variable.bindingSpecifier,
          "@Composition only processes `var` stored properties; declare the field with `var`.",
          fixIts: [.replacing("Use `var`", variable.bindingSpecifier, with: "var")]))
      return
    }
    if let lazy = variable.modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
      found.append(
        .make(
          "compositionLazy", at: lazy,
          "@Composition does not support lazy properties; remove `lazy`.",
          fixIts: [.removing("Remove `lazy`", lazy)]))
      return
    }
    for case .attribute(let attribute) in variable.attributes
    where !["CompositionField", "available"].contains(attribute.shortName) {
      found.append(
        .make(
          "compositionAttribute", at: attribute,
          "@Composition fields support @CompositionField as their only attribute; remove "
            + "@\(attribute.shortName).",
          fixIts: [.removing("Remove @\(attribute.shortName)", attribute)]))
      return
    }
    guard variable.bindings.count == 1, let binding = variable.bindings.first,
      let token = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
    else {
      found.append(
        .make(
          "severalFields", at: variable,
          "@Composition does not support declaring multiple stored properties in one `var` declaration; "
            + "declare each field on its own.",
          fixIts: variable.splitIntoSingleDeclarations.map {
            [.replacing("Split the declaration", variable, with: $0)]
          } ?? []))
      return
    }
    guard !binding.isComputed else {
      found.append(
        .make(
          "compositionComputed", at: binding.accessorBlock.map(Syntax.init) ?? Syntax(binding),
          "@Composition does not support computed properties; move `\(token.bareName)` into an extension."))
      return
    }
    if let field = field(variable, binding, token, &found) { fields.append(field) }
  }

  private static func field(
    _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax, _ token: TokenSyntax,
    _ found: inout [Diagnostic]
  ) -> Field? {
    guard let type = binding.typeAnnotation?.type else {
      let literal = binding.initializer?.value.literalType
      found.append(
        .make(
          "missingType", at: binding.pattern,
          "`\(token.bareName)` must declare its type, as in `var \(token.text): Double`.",
          fixIts: literal.map { [.inserting("Add `: \($0)`", ": \($0)", after: binding.pattern)] } ?? []))
      return nil
    }
    let shape = TypeShape(type)
    guard let primitive = shape.primitive else {
      found.append(
        .make(
          "compositionType", at: type,
          "@Composition field type is unsupported in v1: `\(type.trimmedDescription)` is none of "
            + "\(Primitive.list) and their optionals."))
      return nil
    }
    var ignored: [Diagnostic] = []
    let marker = variable.attributes.first(named: "CompositionField")
    let given = marker.flatMap {
      PersistentName.read($0, macro: "CompositionField", subject: "attribute", diagnostics: &ignored)
    }
    return Field(
      identifier: token.text, name: token.bareName, persistentName: given ?? token.bareName,
      type: type.trimmed, shape: shape, primitive: primitive,
      defaultExpression: binding.initializer?.value.trimmedDescription, declaration: variable)
  }

  private static func nameClashes(_ fields: [Field]) -> [Diagnostic] {
    var seen: [String: String] = [:]
    return fields.compactMap { field in
      guard let other = seen.updateValue(field.name, forKey: field.persistentName) else { return nil }
      return .make(
        "persistentNameTwice", at: field.declaration,
        "`\(field.name)` and `\(other)` have the same persistent name `\(field.persistentName)`; give one of "
          + "them another `persistentName`.")
    }
  }

  /// Decoding calls the memberwise initialiser, which a written one takes away.
  private static func missingInitializer(_ type: StructDeclSyntax, _ fields: [Field]) -> Diagnostic? {
    let written = type.memberBlock.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
    guard let first = written.first else { return nil }
    let labels = fields.map(\.name)
    let offers = written.contains { initializer in
      initializer.signature.parameterClause.parameters.map(\.firstName.bareName) == labels
    }
    guard !offers else { return nil }
    let signature = "init(" + fields.map { "\($0.identifier): \($0.type)" }.joined(separator: ", ") + ")"
    return .make(
      "memberwiseInit", at: first.initKeyword,
      "An initialiser in the struct replaces the memberwise one, which @Composition decodes with; move it "
        + "into an extension, or add `\(signature)`.")
  }
}

import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@PersistentModel`: accessors for the persisted properties, the model's members and conformances.
///
/// Three roles see the same class. Only the member role reports what is wrong, so that every mistake
/// is reported once.
enum PersistentModelMacro {
  // The expansion is written in its final form; formatting it again takes longer than making it.
  static var formatMode: FormatMode { .disabled }
}

extension PersistentModelMacro: MemberAttributeMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard ModelDeclaration.accepts(declaration), let variable = member.as(VariableDeclSyntax.self) else {
      return []
    }
    let isMarked = variable.attributes.contains(named: "Attribute")
    switch PropertyReader(variable).result {
    case .persisted(let property):
      guard declaration.memberBlock.members.contains(where: { $0.declares(property.identifier) }) else {
        return []
      }
      if property.isAttribute { return isMarked ? [] : ["@_CDAttribute"] }
      return ["@_CDRelationship"]
    case .invalid:
      // Accessors that only stand in, so that the compiler does not miss initial values besides.
      return !isMarked && variable.mayHaveAccessors ? ["@_CDAttribute"] : []
    case .leftAlone, .managed, .ignored: return []
    }
  }
}

extension PersistentModelMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    var diagnostics: [Diagnostic] = []
    if let hidden = HiddenType.diagnose(declaration, macro: "PersistentModel", in: context) {
      diagnostics.append(hidden)
    }
    let model = ModelDeclaration(declaration, marker: node, diagnostics: &diagnostics)
    context.diagnose(all: diagnostics)
    guard let model else { return [] }
    return ModelMembers(model: model).declarations
  }
}

extension PersistentModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard ModelDeclaration.accepts(declaration),
      declaration.as(ClassDeclSyntax.self)?.modelRefusal == nil,
      HiddenType.diagnose(declaration, macro: "PersistentModel", in: context) == nil
    else { return [] }
    var ignored: [Diagnostic] = []
    // A class that others may inherit from must have every conformance that the macro's declaration names:
    // the compiler (6.3) lets subclasses inherit those that were never made, and crashes looking for them.
    let isObserved =
      ModelOptions(node, diagnostics: &ignored).isObserved
      || declaration.modifiers.contains(.final) == false
    return try Conformances(missing: protocols).extensions(
      of: type,
      ["PersistentEntity", "CDRuntimeSchemaProviding"]
        + (isObserved
          ? [
            "CDEObservable", "CDEObservationFieldMapProviding",
            "CDEObservationInvalidationDispatching",
          ] : []))
  }
}

extension VariableDeclSyntax {
  fileprivate var mayHaveAccessors: Bool {
    bindings.count == 1 && bindings.first?.typeAnnotation != nil && bindings.first?.accessorBlock == nil
  }
}

extension MemberBlockItemSyntax {
  /// Declares the property itself, and not within an `#if` block.
  fileprivate func declares(_ identifier: String) -> Bool {
    guard let variable = decl.as(VariableDeclSyntax.self) else { return false }
    return variable.bindings.contains {
      $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text == identifier
    }
  }
}

internal import SwiftSyntax

// What key-value coding may call because Objective-C knows it.
extension FactCollector {
  /// A variable with accessors that key-value coding calls; nil for one that the class's body can't reach, or that Objective-C can't know.
  func computed(
    _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax, _ name: String,
    _ type: FileFacts.TypeFacts
  ) -> FileFacts.TypeFacts.Computed? {
    guard let exposure = exposure(variable.attributes, variable.modifiers, type),
      variable.attributes.first(named: "NSManaged") == nil
    else { return nil }
    var isSettable = variable.bindingSpecifier.text == "var"
    switch binding.accessorBlock?.accessors {
    case .getter?: isSettable = false
    case .accessors(let list)?:
      if list.contains(where: { $0.effectSpecifiers != nil }) { return nil }
      isSettable = list.contains {
        ["set", "didSet", "willSet", "_modify"].contains($0.accessorSpecifier.text)
      }
    default: break
    }
    // A setter of an extension in another file is out of the body's reach.
    let isHidden = variable.modifiers.contains { Self.hidden.contains($0.name.text) && $0.detail != nil }
    return .init(
      name: name, isSettable: isSettable && !(isHidden && type.isExtension), isExposed: exposure.isExposed,
      isOverride: exposure.isOverride)
  }

  /// A function that key-value coding calls by its name: one without parameters that returns a value.
  func computed(
    _ function: FunctionDeclSyntax, _ type: FileFacts.TypeFacts
  ) -> FileFacts.TypeFacts.Computed? {
    let signature = function.signature
    guard let exposure = exposure(function.attributes, function.modifiers, type), !exposure.isOverride,
      function.attributes.first(named: "NSManaged") == nil, function.genericParameterClause == nil,
      signature.parameterClause.parameters.isEmpty, signature.effectSpecifiers == nil,
      let result = signature.returnClause?.type.trimmedDescription,
      !["Void", "Swift.Void", "()", "Never"].contains(result)
    else { return nil }
    let name = function.name.text
    return .init(
      name: name, function: function.attributes.objectiveCName ?? name.filter { $0 != "`" },
      isExposed: exposure.isExposed, isOverride: false)
  }

  private static let hidden: Set<String> = ["private", "fileprivate"]

  /// Whether a member has `@objc`, and whether it overrides another one; nil for a member that the class's body can't call, or that
  /// is not known to Objective-C.
  private func exposure(
    _ attributes: AttributeListSyntax, _ modifiers: DeclModifierListSyntax, _ type: FileFacts.TypeFacts
  ) -> (isExposed: Bool, isOverride: Bool)? {
    let isExposed = attributes.first(named: "objc") != nil || isExposedExtension
    let isHidden = modifiers.contains { Self.hidden.contains($0.name.text) && $0.detail == nil }
    guard attributes.first(named: "nonobjc") == nil, !isIsolated(attributes),
      !(isHidden && (type.isExtension || !isExposed)),
      !modifiers.contains(where: { ["static", "class"].contains($0.name.text) })
    else { return nil }
    // One that may not be there, or of which the compiler warns, is called only if its declaration asks for that.
    if let available = attributes.first(named: "available"),
      !isExposed || available.trimmedDescription.contains("unavailable")
    {
      return nil
    }
    return (isExposed, modifiers.contains { $0.name.text == "override" })
  }
}

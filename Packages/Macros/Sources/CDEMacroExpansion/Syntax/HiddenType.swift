import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Types that an extension at file scope cannot name, though conformances are written as such.
enum HiddenType {
  /// The error for a type that is `private` within another, or stands in such a type or in a function.
  static func diagnose(
    _ declaration: some DeclGroupSyntax, macro: String, in context: some MacroExpansionContext
  ) -> Diagnostic? {
    guard !context.lexicalContext.isEmpty else { return nil }
    if context.lexicalContext.contains(where: { $0.asProtocol((any DeclGroupSyntax).self) == nil }) {
      return .make(
        "localType", at: declaration.introducer,
        "@\(macro) cannot be attached to a type inside a function, because its "
          + "conformances stand at file scope; move the type out of it.")
    }
    if let modifier = declaration.modifiers.first(where: isPrivate) {
      return .make(
        "privateType", at: modifier,
        "@\(macro) cannot be attached to a `private` type inside another type, because its conformances "
          + "stand at file scope; make it `fileprivate`.",
        fixIts: [.replacing("Use `fileprivate`", modifier, with: "fileprivate")])
    }
    let enclosing = context.lexicalContext.dropLast().compactMap {
      $0.asProtocol((any DeclGroupSyntax).self)
    }
    guard enclosing.contains(where: { $0.modifiers.contains(where: isPrivate) }) else { return nil }
    return .make(
      "privateType", at: declaration.introducer,
      "@\(macro) cannot see this type from file scope, because a type around it is `private`; make that "
        + "type `fileprivate`.")
  }

  private static func isPrivate(_ modifier: DeclModifierSyntax) -> Bool {
    modifier.detail == nil && modifier.name.tokenKind == .keyword(.private)
  }
}

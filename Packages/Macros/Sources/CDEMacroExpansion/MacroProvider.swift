@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftSyntaxMacros

/// The macros of the plug-in, for the compiler and for tests.
package struct MacroProvider: PluginProvider {
  package init() {}

  /// Every macro of the plug-in, found by its type name.
  static var macros: [any Macro.Type] {
    [
      NSModelActorMacro.self, NSMainModelActorMacro.self, PersistentModelMacro.self,
      AttributeMacro.self, DefaultAttributeMacro.self, IgnoreMacro.self, RelationshipMacro.self,
      RelationshipAccessorsMacro.self, CompositionMacro.self, CompositionFieldMacro.self,
      SwiftDataModelMacro.self, PersistedPropertyMacro.self, SwiftDataPropertyMarkerMacro.self,
      TransientMacro.self, SwiftDataConstraintMacro.self, SwiftDataActorMacro.self,
    ]
  }

  package func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
    for macro in MacroProvider.macros where String(describing: macro) == typeName { return macro }
    throw MacroNotFound(typeName: typeName)
  }
}

struct MacroNotFound: Error, CustomStringConvertible {
  let typeName: String
  var description: String { "CDEMacros has no macro named \(typeName)" }
}

import Testing

@testable import CDEMacroExpansion

@Test("An unknown macro name is an error that names it")
func unknownMacro() {
  #expect(throws: MacroNotFound.self) {
    try MacroProvider().resolveMacro(moduleName: "CDEMacros", typeName: "Nope")
  }
}

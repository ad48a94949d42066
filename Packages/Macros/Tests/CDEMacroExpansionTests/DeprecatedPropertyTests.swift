import Testing

@Suite("Deprecated properties")
struct DeprecatedPropertyTests {
  private let model = Expansion(
    """
    @PersistentModel(generateInit: true, observation: .mainActor)
    final class Item: NSManagedObject {
      var title: String
      @available(*, deprecated, renamed: "title") var name: String?
      @available(Linux, deprecated: 2) @Attribute(storageMethod: .composition) var place: Place?
      @available(macOS 15, *) var kind: Int?
    }
    """)

  @Test("Their key paths stand in a deprecated member, which the rest reaches as a witness")
  func members() {
    #expect(model.messages.isEmpty)
    #expect(
      model.contains(
        """
        private nonisolated enum __CDDeprecated<__CDRoot: Item>: CDDeprecatedPaths {
        @available(*, deprecated)
        static var paths: [Swift.PartialKeyPath<__CDRoot>] {
        [\\__CDRoot.name, \\__CDRoot.place]
        }
        }
        """), "\(model.text)")
    for line in [
      "if matches(\\.title) {", "if matches(__CDDeprecated<Item>.path(0)) {",
      "if let field = Place.__cdPredicateKey(for: keyPath, after: __CDDeprecated<Item>.path(1)) {",
      "paths.append(__CDDeprecated<Item>.path(0))", "paths.append(\\.kind)",
      "__CDDeprecated<Item>.wake(0, of: self, by: registrar)",
      "registrar.withMutation(of: self, keyPath: \\Item.title) {}",
    ] {
      #expect(model.lines.contains(line), "\(line)")
    }
  }

  @Test("The initialiser sets them without their accessors")
  func initialiser() {
    #expect(
      model.contains(
        """
        self.title = title
        do {
        let newValue = name
        _cdSetValue(Item.__CDOrdinal.name, newValue)
        }
        do {
        let newValue = place
        _cdSetComposition(Item.__CDOrdinal.place, newValue)
        }
        self.kind = kind
        """), "\(model.text)")
  }

  @Test("In a hierarchy the key paths start from the class that is asked for")
  func hierarchies() {
    let expansion = Expansion(
      "@PersistentModel\nclass Item: NSManagedObject {\n  @available(*, deprecated) var name: String?\n}")
    #expect(expansion.lines.contains("if matches(__CDDeprecated<__Root>.path(0)) {"), "\(expansion.text)")
  }

  @Test("SwiftData's models have them likewise")
  func swiftData() {
    let expansion = Expansion.swiftData(
      "@Model\nfinal class Trip {\n  @available(*, deprecated) var old = 1\n  var a = 1\n}")
    #expect(expansion.messages.isEmpty)
    #expect(expansion.text.contains("keypath: _$Deprecated<Trip>.path(0), defaultValue: 1"))
    #expect(expansion.lines.contains("[_$Deprecated<__M>.path(0), \\__M.a]"), "\(expansion.text)")
    #expect(expansion.text.contains("enum _$Deprecated<__CDRoot: Trip>: CDESwiftData._DeprecatedPaths {"))
    #expect(!Expansion.swiftData("@Model\nfinal class Trip {\n  var a = 1\n}").text.contains("Deprecated"))
  }
}

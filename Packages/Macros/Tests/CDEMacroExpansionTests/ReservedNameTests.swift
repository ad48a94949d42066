import Testing

@Suite("Names that models and their properties can't have")
struct ReservedNameTests {
  @Test(
    "A model with the name of one of its nested types is one error at its name",
    arguments: ["Handle", "Keys", "PathRoot", "Paths", "Snapshot"])
  func models(name: String) throws {
    let expansion = Expansion(
      """
      @PersistentModel(observation: .mainActor)
      final class \(name): NSManagedObject {
        var title: String
        @Attribute(persistentName: "n") var number: Int?
        @Relationship(inverse: "a", deleteRule: .nullify) var others: Set<Other>
        @Ignore var scratch = 1
      }
      """)
    let error = try expansion.onlyError(at: name)
    #expect(
      error.text.contains("can't be named `\(name)`") && error.text.contains("`entityName: \"\(name)\"`"))
    // Accessors stand in, so that the compiler misses no initial values.
    #expect(expansion.text.components(separatedBy: "Swift.fatalError()").count == 4, "\(expansion.text)")
    #expect(!expansion.text.contains("_cd") && !expansion.text.contains("extension"), "\(expansion.text)")
  }

  @Test("The entity may have such a name")
  func entityName() {
    let expansion = Expansion(
      "@PersistentModel(entityName: \"Snapshot\")\nfinal class Shot: NSManagedObject { var a: Int }")
    #expect(expansion.messages.isEmpty && expansion.text.contains("entityName: \"Snapshot\""))
  }

  @Test("Compositions and SwiftData's models have fewer nested types")
  func others() throws {
    let composition = try Expansion("@Composition\nstruct Paths { var a: Int }").onlyError(at: "Paths")
    #expect(composition.text.contains("A composition can't be named `Paths`"))
    #expect(Expansion("@Composition\nstruct Snapshot { var a: Int }").messages.isEmpty)
    for name in ["ID", "Root"] {
      let model = try Expansion.swiftData("@Model\nfinal class \(name) {\n  var a = 1\n}").onlyError(at: name)
      #expect(model.text.contains("can't be named `\(name)`"))
    }
    #expect(Expansion.swiftData("@Model\nfinal class Paths {\n  var a = 1\n}").messages.isEmpty)
  }

  @Test("A property that Swift has no key path to is one error", arguments: ["Type", "Protocol"])
  func properties(name: String) throws {
    let model = try Expansion.model("var `\(name)`: String").onlyError(at: "`\(name)`")
    #expect(model.text.contains("`persistentName: \"\(name)\"`"))
    let composition = try Expansion("@Composition\nstruct Place { var `\(name)`: Int }")
      .onlyError(at: "`\(name)`")
    #expect(composition.text.contains("`@CompositionField(persistentName: \"\(name)\")`"))
    let swiftData = try Expansion.swiftData("@Model\nfinal class Trip {\n  var `\(name)` = 1\n}")
      .onlyError(at: "`\(name)`")
    #expect(swiftData.text.contains("`@Attribute(originalName: \"\(name)\")`"))
  }

  @Test("A model on the main actor is one error at the attribute, which the fix removes")
  func isolated() throws {
    let expansion = Expansion(
      "@MainActor @PersistentModel\nfinal class Item: NSManagedObject { var title: String }")
    let error = try expansion.onlyError(at: "@MainActor")
    #expect(error.text.contains("its class can't be @MainActor; remove it"))
    #expect(error.fixIts[0].source.hasPrefix("@PersistentModel\nfinal class Item"))
    #expect(!expansion.text.contains("_cd") && expansion.text.contains("Swift.fatalError()"))
  }
}

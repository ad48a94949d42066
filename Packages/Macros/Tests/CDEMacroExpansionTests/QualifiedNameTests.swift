import Testing

@Suite("Names of the standard library in expansions")
struct QualifiedNameTests {
  /// A model may have the name of any of these types, which then hides it in the model's module.
  private static let standard =
    #"(?:^|[^.\w"`])(AnyKeyPath|AnyObject|Array|Bool|Dictionary|Equatable|Int|KeyPath|Optional|PartialKeyPath|"#
    + #"RawRepresentable|Sendable|Set|String|UnsafeMutablePointer|Void|fatalError)\b"#

  /// The names that stand without a module in an expansion whose source has none.
  private func bare(_ expansion: Expansion) throws -> [String] {
    #expect(expansion.messages.isEmpty)
    let names = try Regex(Self.standard)
    return expansion.lines.filter { $0.contains(names) }
  }

  @Test(
    "Models of every kind",
    arguments: ["final class Gym: NSManagedObject", "class Gym: NSManagedObject", "final class Gym: Place"],
    ["none", "mainActor"])
  func models(head: String, mode: String) throws {
    let pointer = "Swift.UnsafeMutablePointer<Swift.AnyObject?>"
    let expansion = Expansion(
      """
      @PersistentModel(generateInit: true, observation: .\(mode))
      \(head) {
        var title: Swift.String
        @Attribute(storageMethod: .raw) var kind: Kind = .open
        @Attribute(storageMethod: .composition) var place: Spot?
        @Relationship(inverse: "gym", deleteRule: .cascade) var sets: Swift.Set<Lift>
        @Relationship(inverse: "other", deleteRule: .cascade) var list: [Lift]
        func validateTitle(_ value: \(pointer)) throws {}
      }
      """)
    #expect(try bare(expansion) == [])
    #expect(try bare(Expansion("@PersistentModel\n\(head) { var a: String }")) != [])
    #expect(expansion.text.contains("func addToSets(_ values: Swift.Set<Lift>)"))
    let empty = Expansion("@PersistentModel(observation: .\(mode))\n\(head) {}")
    #expect(try bare(empty) == [])
  }

  @Test("Compositions, SwiftData's models and actors")
  func others() throws {
    #expect(
      try bare(Expansion("@Composition\nstruct Spot { var a: Swift.Int\n var b: Swift.String? }")) == [])
    for inherits in [false, true] {
      let head = inherits ? "class Trip: Plan" : "class Trip"
      let expansion = Expansion.swiftData(
        "@Model\n\(head) {\n  var a: Swift.Int = 0 { didSet { b = [] } }\n  var b: [Trip] = []\n  init() {}\n}",
        inherits: inherits)
      #expect(try bare(expansion) == [])
    }
    #expect(try bare(Expansion("@NSModelActor\nactor Store {}")) == [])
    #expect(try bare(Expansion("@MainActor @NSMainModelActor\nfinal class Reader {}")) == [])
    #expect(try bare(Expansion.swiftData("@ModelActor\nactor Importer {}")) == [])
  }
}

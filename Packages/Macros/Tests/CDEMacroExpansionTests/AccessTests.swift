import Testing

@Suite("Access of generated members")
struct AccessTests {
  private func expand(_ type: String, _ property: String = "", outer: (String, String) = ("", ""))
    -> Expansion
  {
    Expansion(
      """
      \(outer.0)
      @PersistentModel(generateInit: true, observation: .mainActor)
      \(type) Item: NSManagedObject {
        var title: String
        @Relationship(inverse: "i", deleteRule: .nullify) \(property)var tags: Set<Tag>
      }
      \(outer.1)
      """)
  }

  @Test(
    "Members mirror their type",
    arguments: [
      ("public final class", "public "), ("package final class", "package "), ("final class", ""),
      ("internal final class", ""), ("private final class", "fileprivate "),
      ("fileprivate final class", "fileprivate "),
    ])
  func mirrors(type: String, prefix: String) {
    let expansion = expand(type)
    #expect(expansion.messages.isEmpty)
    for member in [
      "enum Keys: Swift.String {", "enum __CDOrdinal {", "static var __cdPropertyNames: [Swift.String] {",
      "class func fetchRequest() -> NSFetchRequest<Item> {", "convenience init(title: String) {",
      "static let __cdObservationFieldMap: CDEObservationFieldMap = __cdMakeObservationFieldMap()",
      "func __cdObservationInvalidateAllObservableKeyPaths() {",
    ] {
      #expect(expansion.lines.contains("\(prefix)nonisolated \(member)"), "\(member)")
    }
    #expect(expansion.text.contains("extension Item: nonisolated PersistentEntity"))
  }

  @Test(
    "Members of a class in a hierarchy mirror it too, and what children override is as open as the class",
    arguments: [
      ("open class", "public ", "open "), ("public class", "public ", "public "),
      ("package class", "package ", "package "), ("class", "", ""), ("internal class", "", ""),
      ("private class", "fileprivate ", "fileprivate "),
    ])
  func hierarchies(type: String, prefix: String, overridable: String) {
    let expansion = expand(type)
    #expect(expansion.messages.isEmpty)
    for member in [
      "enum Keys: Swift.String {", "enum __CDOrdinal {", "struct __CDPaths: CDModelPaths {",
      "static var path: __CDPaths {", "convenience init(title: String) {",
    ] {
      #expect(expansion.lines.contains("\(prefix)nonisolated \(member)"), "\(member)")
    }
    #expect(
      expansion.lines.contains(
        "\(overridable)nonisolated override class var __cdLineage: CDModelLineage? {"))
    #expect(expansion.lines.contains("\(overridable)nonisolated class __CDInheritedRelationshipNames {"))
    #expect(expansion.text.contains("extension Item: nonisolated PersistentEntity"))
  }

  @Test(
    "What belongs to one property is as visible as that property",
    arguments: [
      ("public class", "public ", "public "), ("public class", "", ""),
      ("public class", "private ", "private "), ("private class", "", "fileprivate "),
      ("public class", "public private(set) ", "public "),
    ])
  func limited(type: String, property: String, prefix: String) {
    let expansion = expand(type, property)
    #expect(expansion.lines.contains("\(prefix)nonisolated func addToTags(_ value: Tag) {"))
    #expect(expansion.lines.contains("\(prefix)nonisolated var tagsCount: Swift.Int {"))
  }

  @Test("An initialiser is no more visible than a type that only an ignored property names")
  func ignoredType() {
    func expand(_ type: String) -> Expansion {
      Expansion(
        """
        @PersistentModel(generateInit: true)
        public class Item: NSManagedObject { @Ignore var scratch: \(type) }
        """)
    }
    #expect(expand("Internal").lines.contains("nonisolated convenience init(scratch: Internal) {"))
    #expect(expand("Int?").lines.contains("public nonisolated convenience init(scratch: Int?) {"))
  }

  @Test("Nested types are named as they are nested")
  func nested() {
    let expansion = expand("fileprivate final class", outer: ("enum Outer {", "}"))
    #expect(expansion.messages.isEmpty)
    #expect(expansion.text.contains("extension Outer.Item: nonisolated PersistentEntity"))
  }

  @Test("A private type within another is an error, as file scope cannot name it")
  func nestedPrivate() throws {
    let expansion = expand("private final class", outer: ("enum Outer {", "}"))
    let message = try #require(expansion.messages.first)
    #expect(expansion.messages.count == 1)
    #expect(message.node == "private" && message.text.contains("make it `fileprivate`"))
    #expect(message.fixIts[0].source.contains("fileprivate final class Item"))
    #expect(!expansion.text.contains("extension Outer.Item"))
  }

  @Test("A type in a function or in a nested private type is an error")
  func local() {
    let local = expand("final class", outer: ("func f() {", "}"))
    #expect(local.errors.contains { $0.contains("inside a function") })
    let deep = expand("final class", outer: ("enum A { private enum B {", "} }"))
    #expect(deep.errors.contains { $0.contains("a type around it is `private`") })
    let fine = expand("final class", outer: ("private enum A { enum B {", "} }"))
    #expect(fine.messages.isEmpty)
  }
}

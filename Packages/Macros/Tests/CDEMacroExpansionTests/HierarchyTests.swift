import Testing

@Suite("Models that inherit from models")
struct HierarchyTests {
  private static let parent = Expansion(
    """
    @PersistentModel(isAbstract: true)
    open class Medium: NSManagedObject {
      public var title: String = ""
      @Relationship(inverse: "media", deleteRule: .nullify) public var tags: Set<Tag>
    }
    """)
  private static let child = Expansion(
    """
    @PersistentModel(observation: .mainActor)
    final class Clip: Films.Medium {
      @Attribute(persistentName: "secs") var seconds: Double = 0
    }
    """)

  @Test("A final model that inherits from NSManagedObject is expanded as ever")
  func final() {
    let expansion = Expansion.model("var title: String")
    #expect(!expansion.text.contains("Lineage") && expansion.text.contains("struct PathRoot: Swift.Sendable"))
  }

  @Test("A class that others may inherit from has a lineage to override, and an abstract entity")
  func root() {
    #expect(Self.parent.messages.isEmpty)
    #expect(
      Self.parent.contains(
        """
        open nonisolated override class var __cdLineage: CDModelLineage? {
        __cdOwnLineage
        }
        """))
    #expect(Self.parent.text.contains("isAbstract: true)"))
    #expect(Self.parent.text.contains("parent: nil,"))
    #expect(Self.parent.contains("public typealias PathRoot = CDHierarchyPaths"))
    #expect(!Self.parent.text.contains("fetchRequest"))
    // The compiler lets subclasses inherit every conformance that the macro's declaration names.
    #expect(Self.parent.text.contains("extension Medium: nonisolated CDEObservable {}"))
  }

  @Test("A child goes on where its parent ends, in ordinals, names, paths and key paths")
  func child() {
    #expect(Self.child.messages.isEmpty)
    #expect(
      Self.child.contains(
        """
        @inline(__always) static var seconds: CDOrdinal {
        Films.Medium.__CDOrdinal.__cdCount + 0
        }
        @inline(__always) static var __cdCount: CDOrdinal {
        Films.Medium.__CDOrdinal.__cdCount + 1
        }
        """))
    #expect(Self.child.text.contains("parent: Films.Medium.__cdLineage,"))
    #expect(Self.child.contains("typealias __CDParentPaths = Films.Medium.__CDPaths"))
    #expect(Self.child.lines.contains("return Films.Medium.__cdPredicateKey(for: keyPath, root: root)"))
    #expect(
      Self.child.text.contains("__CDInheritedRelationshipNames: Films.Medium.__CDInheritedRelationshipNames"))
    #expect(
      Self.child.text.contains(
        "CDModelObservation(paths: [[\"seconds\"]], transient: [], wake: { object, fields in "
          + "(object as? Clip)?.__cdInvalidate(fields) })"))
    #expect(
      Self.child.contains("if fieldSet?.contains(Clip.__CDOrdinal.seconds) != false {"))
  }

  @Test("Public parents let other modules see where their ordinals end")
  func inlinable() {
    #expect(
      Self.parent.lines.contains("@inlinable @inline(__always) public static var __cdCount: CDOrdinal {"))
  }

  @Test(
    "What is surely no superclass of a model is one error",
    arguments: [
      ("Codable", "NSManagedObject, Codable"), ("Swift.Hashable", "NSManagedObject, Swift.Hashable"),
      ("NSObject", "NSManagedObject"), ("Base<Int>", "NSManagedObject, Base<Int>"),
    ])
  func noSuperclass(clause: String, fixed: String) throws {
    let expansion = Expansion("@PersistentModel\nclass Item: \(clause) { var title: String }")
    let message = try expansion.onlyError(at: "Item")
    #expect(message.text.contains("@PersistentModel type must inherit from NSManagedObject."))
    #expect(message.fixIts[0].source.contains("class Item: \(fixed) {"))
  }

  @Test("A final class cannot be abstract")
  func abstractFinal() throws {
    let expansion = Expansion.model("var title: String", arguments: "(isAbstract: true)")
    let message = try expansion.onlyError(at: "final")
    #expect(message.text.contains("from a `final` class none can; remove `final`, or `isAbstract: true`."))
    #expect(message.fixIts[0].source.contains("\nclass Item"))
    #expect(message.fixIts[1].source.contains("@PersistentModel\nfinal class Item"))
    let flag = Expansion.model("var title: String", arguments: "(isAbstract: flag)")
    #expect(flag.errors.count == 1 && flag.errors[0].contains("`isAbstract` must be the literal"))
  }
}

import CDEModelFiles
import Foundation
import Testing

@Suite("Generated classes")
struct ClassGeneratorTests {
  private func files(_ body: String, _ selection: ClassGenerator.Selection = .asSpecified) throws
    -> [String: String]
  {
    var generator = ClassGenerator(try source(body))
    generator.selection = selection
    let files = try generator.files()
    #expect(files.map(\.name) == files.map(\.name).sorted())
    return Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.text) })
  }

  @Test("A class and its properties are what Xcode generates")
  func whole() throws {
    let files = try files(
      """
      <entity name="Item" representedClassName=".Item" codeGenerationType="class">
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag"/>
        <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Tag"/>
        <attribute name="title" optional="YES" attributeType="String"/>
        <attribute name="count" attributeType="Integer 16" usesScalarValueType="YES"/>
      </entity>
      <entity name="Tag" representedClassName="Label"/>
      """)
    #expect(files.keys.sorted() == ["Item+CoreDataClass.swift", "Item+CoreDataProperties.swift"])
    #expect(
      files["Item+CoreDataClass.swift"] == """
        import Foundation
        import CoreData

        @objc(Item)
        public class Item: NSManagedObject {

        }

        """)
    #expect(
      files["Item+CoreDataProperties.swift"] == """
        import Foundation
        import CoreData


        extension Item {

            @nonobjc public class func fetchRequest() -> NSFetchRequest<Item> {
                return NSFetchRequest<Item>(entityName: "Item")
            }

            @NSManaged public var count: Int16
            @NSManaged public var title: String?
            @NSManaged public var owner: Label?
            @NSManaged public var tags: NSSet?

        }

        // MARK: Generated accessors for tags
        extension Item {

            @objc(addTagsObject:)
            @NSManaged public func addToTags(_ value: Label)

            @objc(removeTagsObject:)
            @NSManaged public func removeFromTags(_ value: Label)

            @objc(addTags:)
            @NSManaged public func addToTags(_ values: NSSet)

            @objc(removeTags:)
            @NSManaged public func removeFromTags(_ values: NSSet)

        }

        extension Item : Identifiable {

        }

        """)
  }

  @Test("An ordered relationship gets its accessors by position")
  func ordered() throws {
    let text = try #require(
      try files(
        """
        <entity name="List" representedClassName="List" codeGenerationType="category">
        <relationship name="items" toMany="YES" ordered="YES" destinationEntity="List"/></entity>
        """)["List+CoreDataProperties.swift"])
    #expect(text.contains("@NSManaged public var items: NSOrderedSet?\n"))
    #expect(
      text.contains(
        """
            @objc(insertObject:inItemsAtIndex:)
            @NSManaged public func insertIntoItems(_ value: List, at idx: Int)

            @objc(removeObjectFromItemsAtIndex:)
            @NSManaged public func removeFromItems(at idx: Int)

            @objc(insertItems:atIndexes:)
            @NSManaged public func insertIntoItems(_ values: [List], at indexes: NSIndexSet)

            @objc(removeItemsAtIndexes:)
            @NSManaged public func removeFromItems(at indexes: NSIndexSet)

            @objc(replaceObjectInItemsAtIndex:withObject:)
            @NSManaged public func replaceItems(at idx: Int, with value: List)

            @objc(replaceItemsAtIndexes:withItems:)
            @NSManaged public func replaceItems(at indexes: NSIndexSet, with values: [List])

            @objc(addItemsObject:)
            @NSManaged public func addToItems(_ value: List)

            @objc(removeItemsObject:)
            @NSManaged public func removeFromItems(_ value: List)

            @objc(addItems:)
            @NSManaged public func addToItems(_ values: NSOrderedSet)

            @objc(removeItems:)
            @NSManaged public func removeFromItems(_ values: NSOrderedSet)

        """))
  }

  @Test("Every type has its Swift type")
  func types() throws {
    let expected: [(String, String, String)] = [
      ("Integer 16", "Int16", "NSNumber?"), ("Integer 32", "Int32", "NSNumber?"),
      ("Integer 64", "Int64", "NSNumber?"), ("Double", "Double", "NSNumber?"),
      ("Float", "Float", "NSNumber?"),
      ("Boolean", "Bool", "NSNumber?"), ("Decimal", "NSDecimalNumber?", "NSDecimalNumber?"),
      ("String", "String?", "String?"), ("Date", "TimeInterval", "Date?"), ("Binary", "Data?", "Data?"),
      ("UUID", "UUID?", "UUID?"), ("URI", "URL?", "URL?"), ("Transformable", "NSObject?", "NSObject?"),
    ]
    for (type, scalar, object) in expected {
      for (flag, swift) in [("YES", scalar), ("NO", object)] {
        let text = try files(
          """
          <entity name="E" representedClassName="E" codeGenerationType="class">
          <attribute name="a" optional="YES" attributeType="\(type)" usesScalarValueType="\(flag)"/></entity>
          """)["E+CoreDataProperties.swift"]
        #expect(text?.contains("public var a: \(swift)\n") == true, "\(type) \(flag)")
      }
    }
    let text = try #require(
      try files(
        """
        <entity name="E" representedClassName="E" codeGenerationType="class">
        <attribute name="color" attributeType="Transformable" customClassName="UIColor"/>
        <attribute name="names" attributeType="Transformable" customClassName="[String]"/>
        <attribute name="own" attributeType="Transformable" customClassName=".Shape"/>
        <attribute name="place" attributeType="Composite" composite="P"/>
        <attribute name="default" attributeType="String"/></entity><composite name="P"/>
        """)["E+CoreDataProperties.swift"])
    for line in [
      "color: UIColor?", "names: [String]?", "own: Shape?", "place: [String : Any]?", "`default`: String?",
    ] { #expect(text.contains("public var \(line)\n"), "\(line)") }
  }

  @Test("The editor's setting decides which files are made; all may be asked for")
  func selection() throws {
    let body = """
      <entity name="A" representedClassName="A" codeGenerationType="class"/>
      <entity name="B" representedClassName="B" codeGenerationType="category" parentEntity="A"/>
      <entity name="C" representedClassName="Mod.C" parentEntity="A"/>
      <entity name="D"/>
      <entity name="E" representedClassName="NSManagedObject" codeGenerationType="class"/>
      <entity name="F" representedClassName="A" codeGenerationType="class"/>
      """
    #expect(
      try files(body).keys.sorted() == [
        "A+CoreDataClass.swift", "A+CoreDataProperties.swift", "B+CoreDataProperties.swift",
      ])
    let all = try files(body, .all)
    #expect(
      all.keys.sorted() == [
        "A+CoreDataClass.swift", "A+CoreDataProperties.swift", "B+CoreDataClass.swift",
        "B+CoreDataProperties.swift", "C+CoreDataClass.swift", "C+CoreDataProperties.swift",
      ])
    #expect(all["B+CoreDataClass.swift"]?.contains("public class B: A {") == true)
    #expect(all["B+CoreDataProperties.swift"]?.contains("Identifiable") == false, "it is inherited")
    #expect(all["A+CoreDataProperties.swift"]?.contains("entityName: \"A\"") == true)
  }

  @Test(
    "A name that is no name in Swift brings no code into a program",
    arguments: [
      "<entity name='E' representedClassName='E { }; import X' codeGenerationType='class'/>",
      "<entity name='E' representedClassName='E' codeGenerationType='class'><attribute name='a: Int; func x' attributeType='String'/></entity>",
      "<entity name='E' representedClassName='E' codeGenerationType='class'><attribute name='a' attributeType='Transformable' customClassName='X = f() //'/></entity>",
      "<entity name='E' representedClassName='E' codeGenerationType='class'><relationship name='a b' destinationEntity='E'/></entity>",
    ])
  func names(body: String) throws {
    let error = fileError { _ = try files(body) }
    #expect(error?.code == .invalidModel)
    #expect(error?.element == "entity E")
    let quoted = try files(
      "<entity name='E&quot;+x+&quot;\\' representedClassName='E' codeGenerationType='class'/>")
    #expect(quoted["E+CoreDataProperties.swift"]?.contains(#"entityName: "E\"+x+\"\\")"#) == true)
  }
}

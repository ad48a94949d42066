import CDEModelFiles
import CDEPredicates
import Foundation

/// Two versions of a model, and the source of a mapping model between them, in the form that Xcode's editor writes.
enum MappingFixtures {
  static let old = """
    <entity name="Person">
    <attribute name="name" optional="YES" attributeType="String"/>
    <attribute name="born" optional="YES" attributeType="Date"/>
    <relationship name="home" optional="YES" maxCount="1" destinationEntity="Place" inverseName="people" inverseEntity="Place"/>
    <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Person" inverseName="friends" inverseEntity="Person"/>
    </entity>
    <entity name="Place"><attribute name="title" attributeType="String"/>
    <relationship name="people" optional="YES" toMany="YES" destinationEntity="Person" inverseName="home" inverseEntity="Person"/>
    </entity>
    <entity name="Vehicle" isAbstract="YES"><relationship name="garage" optional="YES" maxCount="1" destinationEntity="Garage" inverseName="vehicles" inverseEntity="Garage"/></entity>
    <entity name="Car" parentEntity="Vehicle"/><entity name="Bike" parentEntity="Vehicle"/>
    <entity name="Garage"><relationship name="vehicles" optional="YES" toMany="YES" destinationEntity="Vehicle" inverseName="garage" inverseEntity="Vehicle"/></entity>
    <entity name="Tag"><attribute name="text" attributeType="String"/></entity>
    <entity name="Gone"/>
    """

  static let new =
    old.replacingOccurrences(
      of: "<attribute name=\"born\" optional=\"YES\" attributeType=\"Date\"/>",
      with: """
        <attribute name="birthday" optional="YES" attributeType="Date"/>
        <attribute name="note" optional="YES" attributeType="String"/>
        <relationship name="pets" optional="YES" toMany="YES" destinationEntity="Pet" inverseName="owner" inverseEntity="Pet"/>
        """
    ).replacingOccurrences(of: "<entity name=\"Gone\"/>", with: "").replacingOccurrences(
      of: "<entity name=\"Tag\"><attribute name=\"text\"",
      with: "<entity name=\"Tag\"><attribute name=\"text\" optional=\"YES\"")
      + """
      <entity name="Pet"><attribute name="name" attributeType="String"/>
      <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Person" inverseName="pets" inverseEntity="Person"/>
      </entity>
      """

  static func object(
    _ type: String, _ id: Int, _ values: [(String, String)], _ relations: [(String, [Int])] = []
  ) -> String {
    let values = values.map { "    <attribute name=\"\($0.0)\" type=\"string\">\($0.1)</attribute>\n" }
      .joined()
    let relations = relations.map { name, ids in
      let ids = ids.map { "z\($0)" }.joined(separator: " ")
      return
        "    <relationship name=\"\(name)\" type=\"0/0\" destination=\"\(type)\" idrefs=\"\(ids)\"></relationship>\n"
    }.joined()
    return "<object type=\"\(type)\" id=\"z\(id)\">\n\(values)\(relations)</object>\n"
  }

  static func entity(
    _ id: Int, _ source: String?, _ destination: String?, _ number: Int, _ more: [(String, String)] = []
  ) -> String {
    var values = [("mappingtypename", "Undefined"), ("mappingnumber", "\(number)")] + more
    if let source { values.append(("sourcename", source)) }
    if let destination { values.append(("destinationname", destination)) }
    return object("XDDEVENTITYMAPPING", id, values, [("mappingmodel", [1])])
  }

  static func attribute(_ id: Int, of owner: Int, _ name: String, _ more: [(String, String)] = []) -> String {
    object("XDDEVATTRIBUTEMAPPING", id, [("name", name)] + more, [("entitymapping", [owner])])
  }

  static func relationship(_ id: Int, of owner: Int, _ name: String, _ more: [(String, String)] = [])
    -> String
  {
    object("XDDEVRELATIONSHIPMAPPING", id, [("name", name)] + more, [("entitymapping", [owner])])
  }

  /// The line of a database on which its objects begin.
  static let firstLine = 15

  static func database(_ objects: String) -> String {
    """
    <?xml version="1.0"?>
    <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

    <database>
        <databaseInfo>
            <version>134481920</version>
            <UUID>4B1F0E6C-0D0A-4B86-8D2C-5C2D9A8C5F41</UUID>
            <nextObjectID>121</nextObjectID>
            <metadata>
                <plist version="1.0">
                    <dict><key>NSPersistenceFrameworkVersion</key><integer>641</integer></dict>
                </plist>
            </metadata>
        </databaseInfo>
    \(objects)
    </database>
    """
  }

  static let models = object(
    "XDDEVMAPPINGMODEL", 1,
    [
      ("sourcemodelpath", "App/M.xcdatamodeld/M.xcdatamodel"), ("sourcemodeldata", "YnBsaXN0"),
      ("destinationmodelpath", "App/M.xcdatamodeld/M 2.xcdatamodel"), ("destinationmodeldata", ""),
    ])

  /// An expression as Core Data's editor saves it.
  static func expression(_ format: String) throws -> String {
    try PredicateArchives.data(of: TreeExpression(format: format)).base64EncodedString(
      options: .lineLength64Characters)
  }

  /// A mapping model with every kind of mapping, in an order that says nothing.
  static func xml() throws -> String {
    database(
      attribute(20, of: 2, "note", [("valueexpressiondata", try expression("'new'"))])
        + attribute(21, of: 2, "birthday", [("sourcekeypath", "born")]) + attribute(22, of: 2, "name")
        + entity(7, nil, "Pet", 1) + attribute(70, of: 7, "name") + relationship(71, of: 7, "owner")
        + entity(3, "Place", "Place", 4, [("sourcefilterpredicatestring", "title != ''")]) + models
        + relationship(23, of: 2, "home") + relationship(24, of: 2, "friends")
        + relationship(25, of: 2, "pets")
        + entity(2, "Person", "Person", 5) + attribute(30, of: 3, "title") + relationship(31, of: 3, "people")
        + entity(4, "Car", "Car", 2) + relationship(40, of: 4, "garage") + entity(5, "Bike", "Bike", 3)
        + relationship(50, of: 5, "garage", [("autogenerateexpression", "0")])
        + entity(6, "Garage", "Garage", 6, [("name", "Garages")]) + relationship(60, of: 6, "vehicles")
        + entity(
          8, "Tag", "Tag", 7, [("migrationpolicyclassname", "App.TagPolicy")])
        + attribute(80, of: 8, "text", [("valueexpressiondata", try expression("$source.text"))])
        + entity(9, "Gone", nil, 8))
  }

  /// A folder with the models and a mapping model of the text.
  static func folder(_ mapping: String) throws -> URL {
    try CDEModelFilesTests.folder([
      "App/M.xcdatamodeld/.xccurrentversion": CDEModelFilesTests.currentVersion("M 2.xcdatamodel"),
      "App/M.xcdatamodeld/M.xcdatamodel/contents": CDEModelFilesTests.xml(old),
      "App/M.xcdatamodeld/M 2.xcdatamodel/contents": CDEModelFilesTests.xml(new),
      "App/Mapping.xcmappingmodel/xcmapping.xml": Data(mapping.utf8),
    ])
  }
}

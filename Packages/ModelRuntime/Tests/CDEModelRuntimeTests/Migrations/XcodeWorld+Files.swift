import CDEManagedModel
import CDEModelFiles
import CDEPredicates
@_spi(CDE) import CDESQLiteFaults
import Foundation

// The files that Xcode's editors save.
extension XcodeWorld {
  /// Writes both versions of the model and the mapping model.
  ///
  /// - Parameter policy: the name of the class of policies.
  func files(policy: String, _ random: inout MigrationRandom) throws -> XcodeFiles {
    let folder = ProcessFolder.newURL("mapping")
    let models = folder.appendingPathComponent("App/M.xcdatamodeld")
    let files = XcodeFiles(
      old: models.appendingPathComponent("M.xcdatamodel"),
      new: models.appendingPathComponent("M 2.xcdatamodel"),
      mapping: folder.appendingPathComponent("App/Mapping.xcmappingmodel"))
    try Self.write(Self.model(oldBody()), to: files.old.appendingPathComponent("contents"))
    try Self.write(Self.model(newBody()), to: files.new.appendingPathComponent("contents"))
    var objects = MappingObjects(place: "App/M.xcdatamodeld")
    if Int.random(in: 0..<3, using: &random) == 0 {
      // The project was moved, and the editor's copies are left.
      objects.place = "Elsewhere/M.xcdatamodeld"
      objects.copies = try [files.old, files.new].map {
        try ModelCompiler.data(of: NSManagedObjectModel(modelFile: $0)).base64EncodedString(
          options: .lineLength64Characters)
      }
    }
    try add(to: &objects, policy, &random)
    try Self.write(objects.xml(&random), to: files.mapping.appendingPathComponent("xcmapping.xml"))
    return files
  }

  private static func write(_ text: String, to file: URL) throws {
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  // MARK: Models

  private static func model(_ body: String) -> String {
    "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\" "
      + "userDefinedModelVersionIdentifier=\"\">\(body)</model>"
  }

  private static func attribute(_ name: String, _ type: String, _ more: String = "") -> String {
    "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"\(type)\" \(more)/>"
  }

  private static func relationship(
    _ end: End, _ name: String, to destination: String, _ inverse: String
  ) -> String {
    "<relationship name=\"\(name)\" optional=\"YES\" destinationEntity=\"\(destination)\" inverseName=\"\(inverse)\" "
      + "inverseEntity=\"\(destination)\" \(end.isToMany ? "toMany=\"YES\"" : "maxCount=\"1\"") "
      + "\(end.isOrdered ? "ordered=\"YES\"" : "") deletionRule=\"Nullify\"/>"
  }

  private func oldBody() -> String {
    entities.enumerated().map { index, entity in
      var body = Self.attribute("id", "Integer 64")
      body += entity.texts.map { Self.attribute($0, "String") }.joined()
      body += entity.numbers.map { Self.attribute($0, "Integer 64") }.joined()
      for relation in relations {
        for (end, other) in [(relation.from, relation.to), (relation.to, relation.from)]
        where end.entity == index {
          body += Self.relationship(end, end.name, to: entities[other.entity].name, other.name)
        }
      }
      return "<entity name=\"\(entity.name)\">\(body)</entity>"
    }.joined()
  }

  private func newBody() -> String {
    var result = added.map { "<entity name=\"\($0)\">\(Self.attribute("x", "String"))</entity>" }
    for (index, entity) in entities.enumerated() {
      guard let destination = entity.destination else { continue }
      var body = Self.attribute("id", "Integer 64")
      for attribute in entity.attributes {
        let fallback = attribute.name == "unmapped" ? "defaultValueString=\"default\"" : ""
        body += Self.attribute(attribute.name, attribute.type, fallback)
      }
      for relation in relations {
        for (end, other) in [(relation.from, relation.to), (relation.to, relation.from)]
        where end.entity == index {
          guard let target = entities[other.entity].destination else { continue }
          body += Self.relationship(end, end.newName, to: target, other.newName)
        }
      }
      let isSplit = entity.fate == .split
      result.append(
        "<entity name=\"\(destination)\" \(isSplit ? "isAbstract=\"YES\"" : "")>\(body)</entity>")
      if isSplit {
        result += entity.mappings.map {
          "<entity name=\"\($0.destination!)\" parentEntity=\"\(destination)\"/>"
        }
      }
    }
    return result.joined()
  }

  // MARK: The mapping model

  private func add(
    to objects: inout MappingObjects, _ policy: String, _ random: inout MigrationRandom
  ) throws {
    var number = 0
    let mapped =
      entities.indices.flatMap { index in entities[index].mappings.map { (index, $0) } }.shuffled(
        using: &random)
    for (index, mapping) in mapped {
      let entity = entities[index]
      if mapping.destination == nil, Bool.random(using: &random) { continue }
      number += 1
      var values = [
        ("mappingtypename", "Undefined"), ("mappingnumber", "\(number)"), ("sourcename", entity.name),
      ]
      if let destination = mapping.destination { values.append(("destinationname", destination)) }
      if let filter = mapping.filter {
        values.append(("sourcefilterpredicatestring", filter.replacing("<", with: "&lt;")))
      }
      if entity.usesPolicy, mapping.destination != nil { values.append(("migrationpolicyclassname", policy)) }
      let owner = objects.entity(values)
      guard mapping.destination != nil else { continue }
      objects.property("XDDEVATTRIBUTEMAPPING", [("name", "id")], of: owner)
      for attribute in entity.attributes {
        var values = [("name", attribute.name)]
        if let path = attribute.keyPath { values.append(("sourcekeypath", path)) }
        if let text = attribute.expression { values.append(("valueexpressiondata", try Self.archive(text))) }
        objects.property("XDDEVATTRIBUTEMAPPING", values, of: owner)
      }
      for (end, other) in ends(of: index) where entities[other].destination != nil {
        try addRelationship(end, other, to: &objects, of: owner, &random)
      }
    }
    for name in added {
      number += 1
      let owner = objects.entity(
        [("mappingtypename", "Undefined"), ("mappingnumber", "\(number)"), ("destinationname", name)])
      objects.property("XDDEVATTRIBUTEMAPPING", [("name", "x")], of: owner)
    }
    for _ in 0..<Int.random(in: 0...3, using: &random) { objects.orphan(&random) }
  }

  private func addRelationship(
    _ end: End, _ other: Int, to objects: inout MappingObjects, of owner: Int,
    _ random: inout MigrationRandom
  ) throws {
    var values = [("name", end.newName)]
    let target = entities[other]
    let mapping = target.mappings.count == 1 ? target.destination.map { "\(target.name)To\($0)" } : nil
    if let mapping, Int.random(in: 0..<3, using: &random) == 0 {
      let call =
        "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', '\(mapping)', "
        + "$source.\(end.name))"
      values.append(("valueexpressiondata", try Self.archive(call)))
    } else if end.newName != end.name || Bool.random(using: &random) {
      values.append(("sourcekeypath", "$source.\(end.name)"))
      if let mapping, Bool.random(using: &random) { values.append(("sourcemappingname", mapping)) }
    }
    objects.property("XDDEVRELATIONSHIPMAPPING", values, of: owner)
  }

  /// An expression as the editor saves it.
  private static func archive(_ format: String) throws -> String {
    try PredicateArchives.data(of: TreeExpression(format: format)).base64EncodedString(
      options: .lineLength64Characters)
  }
}

/// Where the files of a world are.
struct XcodeFiles {
  let old: URL
  let new: URL
  let mapping: URL
}

/// The objects of a mapping model's source.
struct MappingObjects {
  /// The folder of the models that the mapping model names.
  var place: String
  /// The copies of both models; empty for none.
  var copies: [String] = []
  private var count = 1
  private var lines: [String] = []
  private var lists: [Int: [String: [Int]]] = [:]
  private var entities: [(id: Int, values: [(String, String)])] = []

  init(place: String) { self.place = place }

  mutating func entity(_ values: [(String, String)]) -> Int {
    count += 1
    entities.append((count, values))
    return count
  }

  mutating func property(_ type: String, _ values: [(String, String)], of owner: Int?) {
    count += 1
    let list = type == "XDDEVATTRIBUTEMAPPING" ? "attributemappings" : "relationshipmappings"
    if let owner { lists[owner, default: [:]][list, default: []].append(count) }
    lines.append(Self.object(type, count, values, [("entitymapping", owner.map { [$0] } ?? [])]))
  }

  /// A mapping of a property whose entity's mapping is gone.
  mutating func orphan(_ random: inout MigrationRandom) {
    let type = ["XDDEVATTRIBUTEMAPPING", "XDDEVRELATIONSHIPMAPPING"].randomElement(using: &random)!
    let values = [("name", "lost"), ("sourcekeypath", "$source.lost")]
    if Bool.random(using: &random) { return property(type, values, of: nil) }
    count += 1
    lines.append(Self.object(type, count, values, [("entitymapping", [count + 100_000])]))
  }

  /// The text of the file, with the objects in any order.
  func xml(_ random: inout MigrationRandom) -> String {
    var objects = lines
    for (id, values) in entities {
      let relations = (lists[id] ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      objects.append(
        Self.object("XDDEVENTITYMAPPING", id, values, [("mappingmodel", [1])] + relations))
    }
    var model = [
      ("sourcemodelpath", "\(place)/M.xcdatamodel"), ("destinationmodelpath", "\(place)/M 2.xcdatamodel"),
    ]
    if copies.count == 2 { model += [("sourcemodeldata", copies[0]), ("destinationmodeldata", copies[1])] }
    objects.append(
      Self.object("XDDEVMAPPINGMODEL", 1, model, [("entitymappings", entities.map(\.id))]))
    return """
      <?xml version="1.0"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

      <database>
          <databaseInfo>
              <version>134481920</version>
              <UUID>4B1F0E6C-0D0A-4B86-8D2C-5C2D9A8C5F41</UUID>
              <nextObjectID>\(count + 1)</nextObjectID>
              <metadata>
                  <plist version="1.0">
                      <dict><key>NSPersistenceFrameworkVersion</key><integer>641</integer></dict>
                  </plist>
              </metadata>
          </databaseInfo>
      \(objects.shuffled(using: &random).joined())
      </database>
      """
  }

  private static func object(
    _ type: String, _ id: Int, _ values: [(String, String)], _ relations: [(String, [Int])]
  ) -> String {
    let values = values.map { name, value in
      "    <attribute name=\"\(name)\" type=\"\(name.hasSuffix("data") ? "binary" : "string")\">\(value)</attribute>\n"
    }
    let relations = relations.map { name, ids in
      let ids = ids.isEmpty ? "" : " idrefs=\"\(ids.map { "z\($0)" }.joined(separator: " "))\""
      return "    <relationship name=\"\(name)\" type=\"0/0\" destination=\"\(type)\"\(ids)></relationship>\n"
    }
    return "<object type=\"\(type)\" id=\"z\(id)\">\n\((values + relations).joined())</object>\n"
  }
}

@_spi(CDE) import CDEManagedModel
import CDEModelFiles
import CDEPredicates
import Foundation
import Testing

@Suite("Mapping models")
struct MappingModelTests {
  private func read(_ text: String) throws -> NSMappingModel {
    let folder = try MappingFixtures.folder(text)
    return try NSMappingModel(mappingFile: folder.appendingPathComponent("App/Mapping.xcmappingmodel"))
  }

  private func everything() throws -> NSMappingModel { try read(try MappingFixtures.xml()) }

  /// All that a mapping model says, one line for each fact.
  private func lines(_ model: NSMappingModel) -> [String] {
    model.entityMappings.flatMap { mapping -> [String] in
      func line(_ property: NSPropertyMapping) -> String {
        "  \(property.name ?? "") = \(property.valueExpression?.description ?? "nil")"
      }
      return [
        "\(mapping.name!) \(mapping.mappingType.rawValue) \(mapping.sourceEntityName ?? "-") "
          + "\(mapping.destinationEntityName ?? "-") \(mapping.entityMigrationPolicyClassName ?? "-")",
        "  \(mapping.sourceEntityVersionHash?.base64EncodedString() ?? "-") "
          + "\(mapping.destinationEntityVersionHash?.base64EncodedString() ?? "-")",
        "  from \(mapping.sourceExpression?.description ?? "nil")",
      ] + (mapping.attributeMappings ?? []).map(line) + (mapping.relationshipMappings ?? []).map(line)
        + ["  \(mapping.userInfo ?? [:])"]
    }
  }

  @Test("Mappings are in the order of their numbers, with the added ones last, and have names and types")
  func mappings() throws {
    let model = try everything()
    #expect(
      model.entityMappings.map(\.name) == [
        "CarToCar", "BikeToBike", "PlaceToPlace", "PersonToPerson", "Garages", "TagToTag", "Gone", "Pet",
      ])
    #expect(
      model.entityMappings.map(\.mappingType) == [
        .copyEntityMappingType, .copyEntityMappingType, .copyEntityMappingType, .transformEntityMappingType,
        .copyEntityMappingType, .customEntityMappingType, .removeEntityMappingType, .addEntityMappingType,
      ])
    let byName = model.entityMappingsByName
    #expect(byName.count == 8)
    #expect(byName["TagToTag"]?.entityMigrationPolicyClassName == "App.TagPolicy")
    let (old, new) = (
      try CDEModelFilesTests.model(MappingFixtures.old), try CDEModelFilesTests.model(MappingFixtures.new)
    )
    for mapping in model.entityMappings {
      #expect(
        mapping.sourceEntityVersionHash == mapping.sourceEntityName.map { old.entityVersionHashesByName[$0]! }
      )
      #expect(
        mapping.destinationEntityVersionHash
          == mapping.destinationEntityName.map { new.entityVersionHashesByName[$0]! })
    }
  }

  @Test("Expressions are those of the editor, and those that Core Data's compiler computes")
  func expressions() throws {
    let model = try everything()
    func value(_ mapping: String, _ property: String) -> String? {
      let mapping = model.entityMappingsByName[mapping]
      return ((mapping?.attributeMappings ?? []) + (mapping?.relationshipMappings ?? []))
        .first { $0.name == property }?.valueExpression?.description
    }
    func call(_ selector: String, _ name: String, _ path: String) -> String {
      let call = ExpressionTree.call(
        target: .variable("manager"), selector: selector,
        [.constant(.string(name)), .variableKeyPath("source", [path])])
      return TreeExpression(call).description
    }
    let byMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    let byRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    #expect(value("PersonToPerson", "name") == "$source.name")
    #expect(value("PersonToPerson", "birthday") == "$source.born")
    #expect(value("PersonToPerson", "note") == "\"new\"")
    #expect(value("PersonToPerson", "home") == call(byMapping, "PlaceToPlace", "home"))
    #expect(value("PersonToPerson", "friends") == call(byMapping, "PersonToPerson", "friends"))
    #expect(value("PersonToPerson", "pets") == nil, "The old entity has none.")
    #expect(value("Pet", "name") == nil)
    #expect(value("Pet", "owner") == nil)
    #expect(value("CarToCar", "garage") == call(byMapping, "Garages", "garage"))
    #expect(value("BikeToBike", "garage") == nil, "The editor was told to compute none.")
    #expect(value("Garages", "vehicles") == call(byRelationship, "vehicles", "vehicles"), "Cars or bikes.")
    #expect(value("TagToTag", "text") == "$source.text")
    let request = try #require(model.entityMappingsByName["PlaceToPlace"]?.sourceExpression)
    #expect(request.function == "fetchRequestForSourceEntityNamed:predicateString:")
    #expect(request.operand.variable == "manager")
    #expect(request.arguments?.map { $0.constantValue as? String } == ["Place", "title != ''"])
    #expect(
      model.entityMappingsByName["CarToCar"]?.sourceExpression?.arguments?.last?.constantValue as? String
        == "TRUEPREDICATE")
    #expect(model.entityMappingsByName["Pet"]?.sourceExpression == nil)
  }

  @Test("A compiled mapping model says what its source says, in the same bytes each time")
  func compiling() throws {
    let folder = try MappingFixtures.folder(try MappingFixtures.xml())
    let source = folder.appendingPathComponent("App/Mapping.xcmappingmodel")
    let outputs = try (0..<2).map { number in
      let output = folder.appendingPathComponent("\(number).cdm")
      try ModelCompiler.compile(
        source, to: output, models: [folder.appendingPathComponent("App/M.xcdatamodeld")])
      return output
    }
    let data = try Data(contentsOf: outputs[0])
    #expect(try Data(contentsOf: outputs[1]) == data)
    let compiled = try #require(NSMappingModel(contentsOf: outputs[0]))
    #expect(lines(compiled) == lines(try everything()))
    #expect(try ModelCompiler.data(of: compiled) == data)
  }

  @Test("An archive has the classes and keys of Core Data's compiler")
  func archive() throws {
    guard
      case .dictionary(let list)? = BinaryPropertyListReader.read(
        try ModelCompiler.data(of: try everything())),
      case .array(let objects)? = list["$objects"]
    else {
      Issue.record("no archive")
      return
    }
    func fields(_ className: String) throws -> [String: PropertyListNode] {
      for case .dictionary(let fields) in objects {
        if case .reference(let number)? = fields["$class"], case .dictionary(let type) = objects[number],
          case .string(className)? = type["$classname"]
        {
          return fields
        }
      }
      Issue.record("no object of the class \(className)")
      return [:]
    }
    func keys(_ className: String) throws -> Set<String> { Set(try fields(className).keys) }
    #expect(try keys("NSMappingModel") == ["$class", "NSEntityMappings", "NSEntityMappingsByName"])
    #expect(
      try keys("NSEntityMapping") == [
        "$class", "NSMappingName", "NSMappingType", "NSSourceEntityName", "NSDestinationEntityName",
        "NSSourceEntityVersionHash", "NSDestinationEntityVersionHash", "NSSourceExpression",
        "NSAttributeMappings",
        "NSRelationshipMappings", "NSEntityMigrationPolicyClassName", "NSUserInfo",
      ])
    #expect(
      try keys("NSPropertyMapping") == [
        "$class", "NSDestinationPropertyName", "NSValueExpression", "NSPropertyTransforms", "NSUserInfo",
      ])
    for (name, type) in [
      ("NSKeyPathExpression", 4), ("NSFunctionExpression", 4), ("NSVariableExpression", 2),
      ("NSConstantValueExpression", 0), ("NSKeyPathSpecifierExpression", 10),
      ("NSFetchRequestExpression", 50),
    ] {
      guard case .integer(Int64(type))? = try fields(name)["NSExpressionType"] else {
        Issue.record("\(name) has another type than \(type)")
        continue
      }
    }
  }

  @Test("A mapping model made in code is compiled and read with its user info")
  func madeInCode() throws {
    let property = NSPropertyMapping()
    property.name = "title"
    property.valueExpression = TreeExpression(
      forFunction: TreeExpression(forVariable: "entityPolicy"), selectorName: "titleOf:",
      arguments: [TreeExpression(forVariable: "source")])
    property.userInfo = ["unit": "cm"]
    let mapping = NSEntityMapping()
    mapping.name = "Places"
    mapping.mappingType = .customEntityMappingType
    mapping.attributeMappings = [property]
    mapping.userInfo = ["a": 1, "b": ["x", "y"]]
    let model = NSMappingModel()
    model.entityMappings = [mapping]
    let copy = try NSMappingModel(compiledMapping: try ModelCompiler.data(of: model))
    let read = try #require(copy.entityMappingsByName["Places"])
    #expect(read.attributeMappings?.first?.valueExpression == property.valueExpression)
    #expect(read.attributeMappings?.first?.userInfo as? [String: String] == ["unit": "cm"])
    #expect(read.userInfo?["a"] as? Int == 1)
    #expect(read.userInfo?["b"] as? [String] == ["x", "y"])
    #expect(read.relationshipMappings == nil)
    #expect(read.sourceEntityName == nil)

    property.valueExpression = TreeExpression(format: "(((")
    #expect(fileError { _ = try ModelCompiler.data(of: model) }?.code == .unsupportedExpression)
  }

  @Test("Bundles are searched for the mapping model of two models")
  func bundles() throws {
    let folder = try MappingFixtures.folder(try MappingFixtures.xml())
    let resources = folder.appendingPathComponent("Resources")
    try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
    try Data("no archive".utf8).write(to: resources.appendingPathComponent("A.cdm"))
    try ModelCompiler.compile(
      folder.appendingPathComponent("App/Mapping.xcmappingmodel"),
      to: resources.appendingPathComponent("B.cdm"))
    let bundle = try #require(Bundle(url: resources))
    let old = try CDEModelFilesTests.model(MappingFixtures.old)
    let new = try CDEModelFilesTests.model(MappingFixtures.new)
    let found = NSMappingModel(from: [bundle], forSourceModel: old, destinationModel: new)
    #expect(found?.entityMappings.count == 8)
    #expect(NSMappingModel(from: [bundle], forSourceModel: new, destinationModel: old) == nil)
    #expect(NSMappingModel(from: [bundle], forSourceModel: nil, destinationModel: new) == nil)
    #expect(NSMappingModel(from: [], forSourceModel: old, destinationModel: new) == nil)
    #expect(NSMappingModel(from: nil, forSourceModel: old, destinationModel: new) == nil)
  }

  @Test("A model that is not where the mapping model says is an error that names it")
  func missingModels() throws {
    let folder = try MappingFixtures.folder(try MappingFixtures.xml())
    let mapping = folder.appendingPathComponent("App/Mapping.xcmappingmodel")
    let other = try CDEModelFilesTests.folder([
      "O.xcdatamodel/contents": CDEModelFilesTests.xml(MappingFixtures.old)
    ])
    let error = fileError {
      _ = try NSMappingModel(mappingFile: mapping, models: [other.appendingPathComponent("O.xcdatamodel")])
    }
    #expect(error?.code == .missing)
    #expect(error?.message.contains("App/M.xcdatamodeld/M.xcdatamodel") == true)
    try FileManager.default.removeItem(at: folder.appendingPathComponent("App/M.xcdatamodeld"))
    #expect(fileError { _ = try NSMappingModel(mappingFile: mapping) }?.code == .missing)
    #expect(NSMappingModel(contentsOf: mapping) == nil)
    #expect(NSMappingModel(contentsOf: nil) == nil)
    #expect(
      fileError { _ = try NSMappingModel(mappingFile: folder.appendingPathComponent("no.cdm")) }?.code
        == .missing)
  }

  @Test(
    "Damaged sources are refused with the element and the line",
    arguments: [
      ("<object/>", 0, ModelFileError.Code.damaged), ("<object type='A' id=''/>", 0, .damaged),
      ("<object type='A' id='z1'/>\n<object type='A' id='z1'/>", 1, .damaged),
      (MappingFixtures.entity(2, nil, nil, 1), 0, .invalidModel),
      (MappingFixtures.entity(2, "No", "Person", 1), 0, .invalidModel),
      (MappingFixtures.entity(2, "Person", "No", 1), 0, .invalidModel),
      (
        MappingFixtures.entity(2, "Person", "Person", 1, [("name", "A")])
          + MappingFixtures.entity(3, nil, "Pet", 1, [("name", "A")]), 8, .invalidModel
      ),
      (
        MappingFixtures.entity(2, "Person", "Person", 1, [("sourcefilterpredicatestring", "((")]), 0,
        .unsupportedExpression
      ),
      (
        MappingFixtures.entity(2, "Person", "Person", 1)
          + MappingFixtures.object("XDDEVATTRIBUTEMAPPING", 3, [], [("entitymapping", [2])]), 7, .invalidModel
      ),
      (
        MappingFixtures.entity(2, "Person", "Person", 1) + MappingFixtures.attribute(3, of: 2, "name")
          + MappingFixtures.attribute(4, of: 2, "name"), 11, .damaged
      ),
      (
        MappingFixtures.entity(2, "Person", "Person", 1)
          + MappingFixtures.attribute(3, of: 2, "name", [("valueexpressiondata", "%%%")]), 7, .damaged
      ),
      (
        MappingFixtures.entity(2, "Person", "Person", 1)
          + MappingFixtures.attribute(3, of: 2, "name", [("valueexpressiondata", "YWJj")]), 7, .damaged
      ),
      ("<object type='A' id='z1'>\n<attribute>x</attribute></object>", 1, .damaged),
      ("<object>", 0, .damaged),
    ])
  func damaged(objects: String, line: Int, code: ModelFileError.Code) throws {
    let text = MappingFixtures.database(objects + MappingFixtures.models.replacing("z1", with: "z99"))
    let error = fileError { _ = try read(text) }
    #expect(error?.code == code, "\(error?.message ?? "no error")")
    #expect(error?.line == MappingFixtures.firstLine + line, "\(error?.message ?? "no error")")
    #expect(error?.element != nil)
    #expect(error?.file.hasSuffix("xcmapping.xml") == true)
  }

  @Test("Entities of the file's own are refused before anything is expanded")
  func bombs() throws {
    let bomb = """
      <!DOCTYPE database [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
      <database><object type="&b;" id="z1"/></database>
      """
    #expect(fileError { _ = try read(bomb) }?.element == "!DOCTYPE")
    #expect(fileError { _ = try read("<database><object type='&b;' id='1'/></database>") }?.code == .damaged)
    #expect(fileError { _ = try read("<model/>") }?.code == .unsupportedFormat)
    #expect(fileError { _ = try read("") }?.code == .damaged)
    #expect(fileError { _ = try read("<database/>") }?.code == .invalidModel)
  }

  @Test("Damaged archives are refused, and an unknown expression is an error of its own")
  func damagedArchives() throws {
    func code(_ change: (inout [PropertyListNode]) -> Void) throws -> ModelFileError.Code? {
      var objects = try MappingArchives.objects(of: try everything())
      change(&objects)
      return fileError { _ = try NSMappingModel(compiledMapping: MappingArchives.data(objects)) }?.code
    }
    #expect(try code { _ in } == nil)
    #expect(try code { $0[1] = .string("no mapping model") } == .unsupportedFormat)
    func set(_ key: String, _ value: PropertyListNode) -> (inout [PropertyListNode]) -> Void {
      { objects in
        for (place, object) in objects.enumerated() {
          if case .dictionary(var fields) = object, fields[key] != nil {
            fields[key] = value
            objects[place] = .dictionary(fields)
            return
          }
        }
      }
    }
    #expect(try code(set("NSMappingType", .integer(99))) == .unsupportedFormat)
    #expect(try code(set("NSMappingType", .integer(-1))) == .unsupportedFormat)
    #expect(fileError { _ = try NSMappingModel(compiledMapping: Data("bplist00".utf8)) }?.code == .damaged)
    #expect(fileError { _ = try NSMappingModel(compiledMapping: Data()) }?.code == .unsupportedFormat)
    var objects = try MappingArchives.objects(of: try everything())
    set("NSValueExpression", .reference(1))(&objects)
    let model = try NSMappingModel(compiledMapping: MappingArchives.data(objects))
    let broken = model.entityMappings.flatMap {
      ($0.attributeMappings ?? []) + ($0.relationshipMappings ?? [])
    }
    .compactMap(\.valueExpression).filter { if case .failure = $0.result { true } else { false } }
    #expect(broken.count == 1)
  }
}

/// Archives of mapping models as their objects.
enum MappingArchives {
  static func objects(of model: NSMappingModel) throws -> [PropertyListNode] {
    guard case .dictionary(let list)? = BinaryPropertyListReader.read(try ModelCompiler.data(of: model)),
      case .array(let objects)? = list["$objects"]
    else { return [] }
    return objects
  }

  static func data(_ objects: [PropertyListNode]) -> Data {
    BinaryPropertyListWriter.data(
      .dictionary(["$top": .dictionary(["root": .reference(1)]), "$objects": .array(objects)]))
  }
}

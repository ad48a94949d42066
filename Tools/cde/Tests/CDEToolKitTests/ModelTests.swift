import CDEModelFiles
@_spi(CDE) import CDESQLiteFaults
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEDiagrams
@testable import CDEToolKit

/// A model of so many entities, as a large app has them: most refer to a few.
func wideModel(_ count: Int) -> NSManagedObjectModel {
  let entities = (0..<count).map { number -> NSEntityDescription in
    let entity = NSEntityDescription()
    entity.name = "Entity\(number)"
    entity.properties = (0..<(2 + number % 5)).map {
      Library.attribute("attribute\($0)", .stringAttributeType)
    }
    return entity
  }
  for number in entities.indices.dropFirst() {
    // One of few parents, so that there are hubs, and now and then a second relationship across.
    for (kind, target) in [("parent", number / 4), ("other", (number * 7) % count)]
    where kind == "parent" || number % 3 == 0 {
      let one = Library.relationship("\(kind)\(number)", to: entities[target], many: false)
      let many = Library.relationship("\(kind)Members\(number)", to: entities[number], many: true)
      Library.join(one, many)
      entities[number].properties.append(one)
      entities[target].properties.append(many)
    }
  }
  let model = NSManagedObjectModel()
  model.entities = entities
  return model
}

@Suite("Models")
struct ModelTests {
  private var trips: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../../../Tests/Consumers/PortedApp/Sources/Model/Trips.xcdatamodeld"
    ).standardizedFileURL
  }

  private func point(_ points: [DiagramLayout.Point], at time: Double) -> DiagramLayout.Point {
    let rest = 1 - time
    let weights = [rest * rest * rest, 3 * rest * rest * time, 3 * rest * time * time, time * time * time]
    return zip(points, weights).reduce(into: .init(x: 0, y: 0)) {
      $0.x += $1.0.x * $1.1; $0.y += $1.0.y * $1.1
    }
  }

  @Test(
    "In a diagram no boxes overlap, no line touches a box, nothing is cut off, and it is the same each time",
    arguments: [1, 5, 20, 60])
  func layout(count: Int) {
    let graph = DiagramGraph(wideModel(count), showsAttributes: true)
    let layout = DiagramLayout(graph)
    let boxes = layout.boxes
    for (index, box) in boxes.enumerated() {
      #expect(
        box.x >= 0 && box.y >= 0 && box.x + box.width <= layout.width && box.y + box.height <= layout.height)
      for other in boxes[(index + 1)...] {
        #expect(
          box.x + box.width <= other.x || other.x + other.width <= box.x || box.y + box.height <= other.y
            || other.y + other.height <= box.y)
      }
    }
    var touches = 0
    for path in layout.paths {
      for curve in SVGDiagram.curves(path) {
        for step in 1..<40 {
          let point = point(curve, at: Double(step) / 40)
          touches += boxes.count {
            point.x > $0.x + 0.5 && point.x < $0.x + $0.width - 0.5 && point.y > $0.y
              && point.y < $0.y + $0.height
          }
          #expect(point.x >= 0 && point.x <= layout.width && point.y >= 0 && point.y <= layout.height)
        }
      }
    }
    #expect(touches == 0)
    #expect(graph.lines.count == layout.paths.count)
    for form in Diagram.Form.allCases {
      #expect(Diagram(wideModel(count)).text(form) == Diagram(wideModel(count)).text(form))
    }
  }

  @Test("A name fits into its box, and characters of XML are written as such")
  func names() {
    let entity = NSEntityDescription()
    entity.name = "A<b>&\"c\" with a name that is rather long for an entity"
    entity.properties = [
      Library.attribute("anAttributeWithAVeryLongNameIndeedForWhichThereMustBeRoom", .stringAttributeType)
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let text = Diagram(model).text(.svg, theme: .light)
    #expect(text.contains("A&lt;b&gt;&amp;&quot;c&quot;"))
    #expect(!text.contains("var("))
    let box = DiagramLayout(DiagramGraph(model, showsAttributes: true)).boxes[0]
    #expect(
      box.width > Double(("anAttributeWithAVeryLongNameIndeedForWhichThereMustBeRoom" + "String?").count)
        * 7.2)
  }

  @Test("All kinds of models are read: source, compiled, version, store")
  func kinds() throws {
    let folder = ProcessFolder.newURL("models")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let compiled = folder.appendingPathComponent("Trips.momd")
    _ = try LoadedModel.compile(trips, to: compiled, module: nil)
    let source = try LoadedModel(trips.path)
    #expect(try LoadedModel(compiled.path).model.versionChecksum == source.model.versionChecksum)
    let first = try LoadedModel(trips.path, version: "Trips")
    #expect(first.model.versionChecksum != source.model.versionChecksum)
    #expect(throws: ToolError.self) { try LoadedModel(trips.path, version: "Trips 9") }
    #expect(throws: ToolError.self) { try LoadedModel.compile(compiled, to: nil, module: nil) }
    let library = try Library()
    defer { library.remove() }
    let info = text(try LoadedModel(library.url.path).info(), .csv)
    #expect(info.contains("Book,owner,to-one Person,yes,\"inverse books, delete rule Nullify\""))
    #expect(info.contains("Tag,,,,unique name"))
    #expect(text(try source.schema()).contains("CREATE TABLE ZTRIP"))
    #if PostgreSQL
      let server = text(try source.schema(of: .postgresql))
      #expect(
        server.contains(#"CREATE TABLE "ZTRIP" ("Z_PK" bigint"#)
          && server.contains(#"CREATE TABLE "Z_METADATA""#))
    #else
      #expect(throws: ToolError.self) { try source.schema(of: .postgresql) }
    #endif
  }

  @Test("A diff of a store and a new model says what is lost and how many objects are touched")
  func difference() throws {
    let library = try Library()
    defer { library.remove() }
    let before = try library.contents()
    let model = Library.model()
    let book = try #require(model.entitiesByName["Book"])
    book.properties =
      book.properties.filter { $0.name != "weight" } + [Library.attribute("subtitle", .stringAttributeType)]
    let mom = ProcessFolder.newURL("new").appendingPathExtension("mom")
    try ModelCompiler.data(of: model).write(to: mom)
    let (old, new) = (try LoadedModel(library.url.path), try LoadedModel(mom.path))
    let answer = try ModelDifference(old, new).answer(allowsInference: true)
    #expect(answer.hasFindings)
    let lines = text(answer, .csv)
    #expect(lines.contains("removedAttribute,Book.weight") && lines.contains("lost,12"))
    #expect(lines.contains("addedAttribute,Book.subtitle,a new attribute,kept,12"))
    #expect(!(try ModelDifference(new, new).answer()).hasFindings)
    let added = try ModelDifference(new, old).answer(allowsInference: true)
    #expect(added.hasFindings)
    book.properties = book.properties.map {
      $0.name == "title" ? Library.attribute("title", .dateAttributeType) : $0
    }
    try ModelCompiler.data(of: model).write(to: mom)
    let refused = try ModelDifference(old, LoadedModel(mom.path)).answer(allowsInference: true)
    #expect(refused.hasFindings && text(refused).contains("can't be inferred"))
    #expect(try library.contents() == before)
  }

  @Test("Validation names indexes on nothing, functions of texts over dates, and names that objects have")
  func misuse() throws {
    func findings(_ change: (NSEntityDescription) throws -> Void) rethrows -> [String] {
      let entity = NSEntityDescription()
      entity.name = "Note"
      entity.properties = [
        Library.attribute("title", .stringAttributeType), Library.attribute("created", .dateAttributeType),
      ]
      try change(entity)
      let model = NSManagedObjectModel()
      model.entities = [entity]
      return ModelValidation(model).findings().map { "\($0.isError) \($0.place) \($0.text)" }
    }
    func derived(_ derivation: String) -> [String] {
      findings { entity in
        let folded = NSDerivedAttributeDescription()
        folded.name = "folded"
        folded.attributeType = .stringAttributeType
        folded.derivation = derivation
        entity.properties.append(folded)
      }
    }
    #expect(derived("lowercase:(title)").isEmpty)
    #expect(
      derived("lowercase:(created)") == [
        "true Note.folded Note.folded derives from “lowercase:(created)”, but “created” is no text."
      ])
    #expect(
      findings { $0.properties.append(Library.attribute("description", .stringAttributeType)) } == [
        "false Note.description NSManagedObject has a member of this name, so code and key-value coding may reach that instead. Choose another name."
      ])
    let indexed = findings { entity in
      let index = NSFetchIndexDescription(name: "byName", elements: [])
      index.elements = [
        NSFetchIndexElementDescription(property: entity.properties[0], collationType: .binary)
      ]
      entity.indexes = [index]
      entity.properties.removeFirst()
    }
    #expect(indexed.count == 1 && indexed[0].hasPrefix("true Note.title Note has an index on “title”"))
  }

  @Test("A derivation is the same in a source and in its compiled model")
  func derivations() throws {
    let text = """
      <model><entity name='Note'><relationship name='tags' toMany='YES' destinationEntity='Tag' inverseName='note' inverseEntity='Tag'/>
      <attribute name='tagCount' attributeType='Integer 64' derived='YES' derivationExpression='tags.@count'/></entity>
      <entity name='Tag'><relationship name='note' maxCount='1' destinationEntity='Note' inverseName='tags' inverseEntity='Note'/></entity>
      </model>
      """
    let folder = ProcessFolder.newURL("derived").appendingPathExtension("xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try text.write(to: folder.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    let compiled = ProcessFolder.newURL("derived").appendingPathExtension("mom")
    _ = try LoadedModel.compile(folder, to: compiled, module: nil)
    for (old, new) in [(folder, compiled), (compiled, folder)] {
      let answer = try ModelDifference(try LoadedModel(old.path), try LoadedModel(new.path)).answer()
      #expect(!answer.hasFindings)
    }
    let store = ProcessFolder.newURL("derived").appendingPathExtension("sqlite")
    try Data("rows".utf8).write(to: store)
    let error = #expect(throws: ToolError.self) { try LoadedModel.compile(folder, to: store, module: nil) }
    #expect(error?.status == .usage)
    #expect(try Data(contentsOf: store) == Data("rows".utf8))
  }

  @Test("Validation finds what is planted, and nothing in a sound model")
  func validation() {
    let one = NSEntityDescription()
    one.name = "one"
    let two = NSEntityDescription()
    two.name = "Two"
    let lonely = Library.relationship("lonely", to: two, many: true)
    let strong = Library.relationship("strong", to: two, many: false)
    let back = Library.relationship("Back", to: one, many: false)
    back.isOptional = false
    Library.join(strong, back)
    one.properties = [Library.attribute("untyped", .undefinedAttributeType), lonely, strong]
    two.properties = [back]
    two.isAbstract = true
    let model = NSManagedObjectModel()
    model.entities = [one, two]
    let found = Set(
      ModelValidation(model).findings().map { "\($0.isError ? "error" : "warning") \($0.place)" })
    #expect(
      found == [
        "warning one", "warning Two", "error one.untyped", "warning one.lonely", "warning one.strong",
        "warning Two.Back",
      ])
    #expect(ModelValidation(wideModel(5)).findings() == [])
  }
}

internal import Foundation

/// A mapping model as Xcode's editor writes it: the objects of an XML store, in any order.
struct MappingSource {
  struct Entity {
    let line: Int
    var name: String?
    var source: String?
    var destination: String?
    var number: Int
    var policy: String?
    /// The condition for the old objects.
    var filter: String?
    var attributes: [Property] = []
    var relationships: [Property] = []
  }

  struct Property {
    let line: Int
    let name: String
    /// Whether the editor computes the expression if none is given.
    let generates: Bool
    /// The keyed archive of the expression.
    let expression: Data?
    let sourceKeyPath: String?
    let sourceMapping: String?
  }

  let file: String
  /// The line of the object that names the two models.
  private(set) var line = 1
  private(set) var sourceModelPath: String?
  private(set) var destinationModelPath: String?
  /// The copies of the two models that the editor keeps, as text.
  private(set) var sourceModelData: String?
  private(set) var destinationModelData: String?
  /// In the order of their numbers.
  private(set) var entities: [Entity] = []

  init(contentsOf url: URL) throws(ModelFileError) {
    let contents = url.appendingPathComponent("xcmapping.xml")
    guard ModelFile.exists(contents) else {
      throw ModelFileError(
        ModelFile.exists(url) ? .unsupportedFormat : .missing,
        ModelFile.exists(url)
          ? "The folder is no mapping model: it has no file “xcmapping.xml”."
          : "There is no such mapping model.", file: url.path)
    }
    try self.init(xml: try ModelFile.data(at: contents), file: contents.path)
  }

  init(xml data: Data, file: String) throws(ModelFileError) {
    self.file = file
    var reader = MappingStoreReader(try XMLReader(data, file: file, documentType: .skipped))
    try connect(try reader.objects())
  }

  func error(
    _ code: ModelFileError.Code, _ text: String, line: Int, element: String? = "object",
    cause: (any Error)? = nil
  ) -> ModelFileError {
    ModelFileError(code, text, file: file, line: line, element: element, cause: cause)
  }

  // MARK: Connecting

  private mutating func connect(_ objects: [MappingStoreReader.Object]) throws(ModelFileError) {
    var places: [String: Int] = [:]
    /// The mapping of an entity that lists a property's mapping.
    var owners: [String: String] = [:]
    for object in objects {
      switch object.type {
      case "XDDEVMAPPINGMODEL":
        line = object.line
        sourceModelPath = object.text("sourcemodelpath")
        destinationModelPath = object.text("destinationmodelpath")
        sourceModelData = object.text("sourcemodeldata")
        destinationModelData = object.text("destinationmodeldata")
      case "XDDEVENTITYMAPPING":
        places[object.id] = entities.count
        entities.append(
          Entity(
            line: object.line, name: object.text("name"), source: object.text("sourcename"),
            destination: object.text("destinationname"),
            number: object.text("mappingnumber").flatMap { Int($0) } ?? .max,
            policy: object.text("migrationpolicyclassname"),
            filter: object.text("sourcefilterpredicatestring")))
        for id in (object.relations["attributemappings"] ?? [])
          + (object.relations["relationshipmappings"] ?? [])
        { owners[id] = object.id }
      default: break
      }
    }
    for object in objects {
      let isAttribute = object.type == "XDDEVATTRIBUTEMAPPING"
      guard isAttribute || object.type == "XDDEVRELATIONSHIPMAPPING" else { continue }
      // Xcode leaves mappings of properties behind whose entities' mappings were removed. They say nothing.
      let owner = object.relations["entitymapping"]?.first.flatMap { places[$0] }
      guard let place = owner ?? owners[object.id].flatMap({ places[$0] }) else { continue }
      let property = try property(object)
      let path: WritableKeyPath<Entity, [Property]> = isAttribute ? \.attributes : \.relationships
      if entities[place][keyPath: path].contains(where: { $0.name == property.name }) {
        throw error(.damaged, "The property \(property.name) is mapped twice.", line: object.line)
      }
      entities[place][keyPath: path].append(property)
    }
    for place in entities.indices {
      entities[place].attributes.sort { $0.name < $1.name }
      entities[place].relationships.sort { $0.name < $1.name }
    }
    // Added entities stand at the end, as in what Core Data's compiler writes.
    entities.sort {
      let (first, second) = ($0.source == nil ? 1 : 0, $1.source == nil ? 1 : 0)
      return (first, $0.number, $0.line) < (second, $1.number, $1.line)
    }
  }

  private func property(_ object: MappingStoreReader.Object) throws(ModelFileError) -> Property {
    guard let name = object.text("name") else {
      throw error(.invalidModel, "The mapping of a property has no name.", line: object.line)
    }
    var expression: Data?
    if let text = object.text("valueexpressiondata") {
      guard let data = Data(base64Encoded: text.filter { !$0.isWhitespace }) else {
        throw error(
          .damaged, "The expression of \(name) is no text in base64. Enter the expression again in Xcode.",
          line: object.line)
      }
      expression = data
    }
    return Property(
      line: object.line, name: name,
      generates: object.text("autogenerateexpression").map { $0 != "0" && $0 != "NO" } ?? true,
      expression: expression, sourceKeyPath: object.text("sourcekeypath"),
      sourceMapping: object.text("sourcemappingname"))
  }
}

/// Reads Core Data's XML store format, in which mapping models are saved.
struct MappingStoreReader {
  struct Object {
    let type: String
    let id: String
    let line: Int
    var values: [String: String] = [:]
    var relations: [String: [String]] = [:]

    /// The value of an attribute; nil for none, and for an empty one.
    func text(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
  }

  private var xml: XMLReader

  init(_ xml: XMLReader) { self.xml = xml }

  /// All objects, in the order of the file.
  mutating func objects() throws(ModelFileError) -> [Object] {
    var result: [Object] = []
    while true {
      switch try xml.next() {
      case .start(let tag):
        guard tag.name == "database" else {
          throw xml.error(
            .unsupportedFormat, "The file is no mapping model: its root element is <\(tag.name)>.", in: tag)
        }
        try readObjects(&result)
      case .finished: return result
      case .end, .text: break
      }
    }
  }

  private mutating func readObjects(_ result: inout [Object]) throws(ModelFileError) {
    var ids: Set<String> = []
    while true {
      switch try xml.next() {
      case .start(let tag):
        guard tag.name == "object" else {
          try xml.skipElement()
          continue
        }
        guard let type = tag["type"], let id = tag["id"], !id.isEmpty else {
          throw xml.error(.damaged, "<object> lacks its type or its id.", in: tag)
        }
        guard ids.insert(id).inserted else {
          throw xml.error(.damaged, "Two objects have the id \(id).", in: tag)
        }
        var object = Object(type: type.uppercased(), id: id, line: tag.line)
        try readMembers(of: &object)
        result.append(object)
      case .end, .finished: return
      case .text: break
      }
    }
  }

  private mutating func readMembers(of object: inout Object) throws(ModelFileError) {
    while true {
      switch try xml.next() {
      case .start(let tag):
        guard tag.name == "attribute" || tag.name == "relationship" else {
          try xml.skipElement()
          continue
        }
        guard let name = tag["name"]?.lowercased() else {
          throw xml.error(.damaged, "<\(tag.name)> has no name.", in: tag)
        }
        if tag.name == "attribute" {
          object.values[name] = try xml.elementText().trimmingCharacters(in: .whitespacesAndNewlines)
        } else {
          object.relations[name] = (tag["idrefs"] ?? "").split(separator: " ").map(String.init)
          try xml.skipElement()
        }
      case .end, .finished: return
      case .text: break
      }
    }
  }
}

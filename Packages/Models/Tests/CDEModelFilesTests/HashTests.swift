import CDEManagedModel
import CDEModelFiles
import Foundation
import Testing

/// Writes the known entities as a model file, and compares the hashes of the model that is read from it.
@Suite("Version hashes of model files")
struct FileHashTests {
  @Test("Every known entity, written as XML, gets Core Data's hash")
  func entities() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("CDEManagedModelTests/Fixtures/versionhash-vectors.json")
    let all = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as! [String: Any]
    let vectors = all["entityVectors"] as! [[String: Any]]
    #expect(vectors.count == 76)
    for vector in vectors {
      let entity = vector["entity"] as! [String: Any]
      let name = entity["name"] as! String
      let expected = vector["hash"] as! String
      var writer = VectorXML()
      writer.add(entity)
      let model = try model(writer.xml)
      #expect(try model.entity(name).versionHash.base64EncodedString() == expected, "\(name)")
    }
  }
}

/// The XML of one known entity, its parents, and what is known of its relationships' destinations.
private struct VectorXML {
  private var entities: [String: String] = [:]
  private var composites = ""
  /// Inverses that the destinations must have, by destination.
  private var inverses: [String: Set<String>] = [:]
  private var known: Set<String> = []

  var xml: String {
    var result = composites
    for (name, body) in entities { result += body.isEmpty ? "" : body + inverseXML(name) + "</entity>" }
    for name in inverses.keys where entities[name] == nil {
      result += "<entity name=\"\(name)\">\(inverseXML(name))</entity>"
    }
    return result
  }

  private func inverseXML(_ entity: String) -> String {
    (inverses[entity] ?? []).filter { !known.contains("\(entity).\($0)") }.map {
      "<relationship name=\"\($0)\" maxCount=\"1\" destinationEntity=\"\(entity)\"/>"
    }.joined()
  }

  mutating func add(_ entity: [String: Any]) {
    let name = entity["name"] as! String
    var parent = ""
    if let source = entity["parent"] as? [String: Any] {
      add(source)
      parent = " parentEntity=\"\(source["name"]!)\""
    }
    var body =
      "<entity name=\"\(name)\"\(parent)\(yes("isAbstract", entity["isAbstract"]))\(modifier(entity))>"
    for property in entity["properties"] as! [[String: Any]] {
      known.insert("\(name).\(property["name"]!)")
      if property["inherited"] as? Bool != true { body += self.property(property) }
    }
    let constraints = entity["uniquenessConstraints"] as! [[String]]
    body += "<uniquenessConstraints>"
    for constraint in constraints {
      let keys = constraint.map { "<constraint value=\"\($0)\"/>" }.joined()
      body += "<uniquenessConstraint>\(keys)</uniquenessConstraint>"
    }
    entities[name] = body + "</uniquenessConstraints>"
  }

  private mutating func property(_ property: [String: Any]) -> String {
    let name = property["name"] as! String
    let common =
      "name=\"\(name)\"\(yes("optional", property["optional"]))\(yes("transient", property["transient"]))"
      + modifier(property)
    switch property["kind"] as! String {
    case "relationship":
      let destination = property["destination"] as! String
      let max = property["maxCount"] as! Int
      var result =
        "<relationship \(common) destinationEntity=\"\(destination)\" minCount=\"\(property["minCount"]!)\""
        + " \(max == 1 ? "" : "toMany=\"YES\"") maxCount=\"\(max)\"\(yes("ordered", property["ordered"]))"
      inverses[destination, default: []].formUnion([])
      if let inverse = property["inverse"] as? String {
        inverses[destination]!.insert(inverse)
        result += " inverseName=\"\(inverse)\" inverseEntity=\"\(destination)\""
      }
      return result + "/>"
    case "fetched": return "<fetchedProperty \(common)/>"
    case "composite":
      let type = "Composite\(composites.count)"
      let elements = (property["elements"] as! [[String: Any]]).map { self.property($0) }.joined()
      composites += "<composite name=\"\(type)\">\(elements)</composite>"
      return "<attribute \(common) attributeType=\"Composite\" composite=\"\(type)\"/>"
    default:
      let types: [Int: String] = [
        0: "Undefined", 100: "Integer 16", 200: "Integer 32", 300: "Integer 64", 400: "Decimal",
        500: "Double",
        600: "Float", 700: "String", 800: "Boolean", 900: "Date", 1000: "Binary", 1100: "UUID", 1200: "URI",
        1800: "Transformable",
      ]
      var result = "<attribute \(common) attributeType=\"\(types[property["attributeType"] as! Int]!)\""
      result += yes("allowsExternalBinaryDataStorage", property["allowsExternalBinaryDataStorage"])
      result += yes("preserveAfterDeletion", property["preservesValueInHistoryOnDeletion"])
      if let derivation = property["derivation"] as? [String: Any] {
        result += " derived=\"YES\" derivationExpression=\"\(derivation["text"]!)\""
      }
      return result + "/>"
    }
  }

  private func yes(_ name: String, _ value: Any?) -> String {
    value as? Bool == true ? " \(name)=\"YES\"" : ""
  }

  private func modifier(_ source: [String: Any]) -> String {
    (source["versionHashModifier"] as? String).map { " versionHashModifier=\"\($0)\"" } ?? ""
  }
}

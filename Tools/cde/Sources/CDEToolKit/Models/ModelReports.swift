import CDEDiagrams
import CDEManagedModel
import CDEModelFiles
import CDEModelRuntime
import Foundation

/// Answers about one model.
extension LoadedModel {
  /// The answer of `cde model info`: every property of every entity.
  public func info() -> Answer {
    var table = Table([
      .init("entity"), .init("property"), .init("type"), .init("optional"), .init("details"),
    ])
    for entity in model.sortedEntities {
      let notes =
        [entity.isAbstract ? "abstract" : nil, entity.superentity?.name.map { "inherits from \($0)" }]
        + entity.uniquenessConstraints.dropFirst(entity.superentity?.uniquenessConstraints.count ?? 0).map {
          "unique \(Self.names($0))"
        }
        + entity.indexes.map { "index \($0.name)" }
      table.rows.append([
        Cell(entity.name ?? ""), .none, .none, .none, Cell(notes.compactMap { $0 }.joined(separator: ", ")),
      ])
      for property in entity.ownStored {
        table.rows.append([
          Cell(entity.name ?? ""), Cell(property.name), Cell(Self.type(of: property)),
          Cell(property.isOptional),
          Cell(Self.details(of: property)),
        ])
      }
    }
    let identifiers = model.versionIdentifiers.map { "\($0)" }.filter { !$0.isEmpty }.sorted()
    let facts: [Answer.Fact] = [
      .init("model", Cell(url.path)), .init("version", Cell(identifiers.joined(separator: ", "))),
      .init("checksum", Cell(model.versionChecksum)), .init("entities", Cell(model.entities.count)),
      .init("configurations", Cell(model.configurations.joined(separator: ", "))),
    ]
    return Answer([.facts(facts), .table(table)])
  }

  static func names(_ constraint: [Any]) -> String {
    constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }.joined(separator: "+")
  }

  static func type(of property: NSPropertyDescription) -> String {
    switch property {
    case let composite as NSCompositeAttributeDescription:
      "Composite {\(composite.elements.map { "\($0.name): \($0.typeName)" }.joined(separator: ", "))}"
    case let attribute as NSAttributeDescription: attribute.typeName
    case let relationship as NSRelationshipDescription:
      "\(relationship.isToMany ? relationship.isOrdered ? "ordered to-many" : "to-many" : "to-one") \(relationship.destinationEntity?.name ?? "no entity")"
    default: "fetched property"
    }
  }

  static func details(of property: NSPropertyDescription) -> String {
    var parts: [String] = []
    if let attribute = property as? NSAttributeDescription {
      if let value = attribute.defaultValue {
        parts.append("default \(ValueText.cell(value, attribute).text)")
      }
      if attribute.allowsExternalBinaryDataStorage { parts.append("external") }
      if let transformer = attribute.valueTransformerName { parts.append("transformer \(transformer)") }
      if let derived = (attribute as? NSDerivedAttributeDescription)?.derivation {
        parts.append("derived \(derived)")
      }
    }
    if let relationship = property as? NSRelationshipDescription {
      parts.append(relationship.inverseRelationship.map { "inverse \($0.name)" } ?? "no inverse")
      parts.append("delete rule \(relationship.ruleName)")
      if relationship.isToMany, relationship.minCount > 0 || relationship.maxCount > 0 {
        parts.append(
          "count \(relationship.minCount)...\(relationship.maxCount == 0 ? "" : String(relationship.maxCount))"
        )
      }
    }
    if property.renamingIdentifier != property.name, let former = property.renamingIdentifier {
      parts.append("was \(former)")
    }
    return parts.joined(separator: ", ")
  }

  /// Compiles a model's source to the file that programs load.
  public static func compile(_ source: URL, to destination: URL?, module: String?) throws -> Answer {
    let kinds = ["xcdatamodeld": "momd", "xcdatamodel": "mom", "xcmappingmodel": "cdm"]
    guard let kind = kinds[source.pathExtension] else {
      throw ToolError(
        "\(source.path) is no source of a model. Name an .xcdatamodeld, an .xcdatamodel or an .xcmappingmodel.",
        .usage)
    }
    let result = destination ?? source.deletingPathExtension().appendingPathExtension(kind)
    // A store or a source whose name was mistyped would be lost.
    guard result.pathExtension == kind || !FileManager.default.fileExists(atPath: result.path) else {
      throw ToolError(
        "There is something at \(result.path), which is no .\(kind) by its name. Give the compiled model a name that ends in .\(kind).",
        .usage)
    }
    do { try ModelCompiler.compile(source, to: result, module: module) } catch { throw ToolError(error) }
    return Answer(
      [.text("Compiled to \(result.path).")], json: .object([.init("destination", .string(result.path))]))
  }
}

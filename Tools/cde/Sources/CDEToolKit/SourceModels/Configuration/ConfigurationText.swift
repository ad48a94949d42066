import CDEManagedModel
import Foundation

/// Writes configurations.
public enum ConfigurationText {
  /// What a skeleton contains.
  public enum Preset: String, CaseIterable, Sendable {
    case minimal, full
  }

  /// Which rules a configuration of a model has.
  public enum Style: String, CaseIterable, Sendable {
    /// Rules where something is to be decided.
    case compact
    /// A rule for every attribute and relationship.
    case explicit
  }

  /// A skeleton.
  public static func skeleton(_ preset: Preset) -> String {
    let generate: [JSONValue.Member] = [
      .init("modelPath", .string("Models/Model.xcdatamodeld")), .init("outputDir", .string("Sources/Models")),
    ]
    guard preset == .full else { return document(generate, [.init("sourceDir", .string("Sources"))], nil) }
    let more: [JSONValue.Member] = [
      .init("modelVersion", .null), .init("moduleName", .null), .init("kind", .string("persistent-model")),
      .init("accessLevel", .string("internal")), .init("singleFile", .bool(false)),
      .init("splitByEntity", .bool(true)), .init("headerTemplate", .null),
      .init("generateInit", .bool(false)),
      .init("emitExtensionStubs", .bool(false)), .init("typeMappings", typeMappings),
      .init("attributeRules", .object([])), .init("relationshipRules", .object([])),
      .init("compositionRules", .object([])),
    ]
    return document(
      generate + more, [.init("sourceDir", .string("Sources")), .init("mode", .string("conformance"))],
      Proposals())
  }

  private static var typeMappings: JSONValue {
    .object(
      AttributeTypes.names.map { name in
        .init(name, .object([.init("swiftType", .string(AttributeTypes.swiftTypes[name]?.first ?? ""))]))
      })
  }

  /// The configuration of a model, with what the data of a store proposes.
  ///
  /// - Parameters:
  ///   - path: the model as the configuration names it.
  ///   - store: a store of the model.
  public static func bootstrap(
    _ model: LoadedModel, path: String, version: String?, style: Style, data store: OpenedStore?
  ) throws -> String {
    let resolved = ModelResolver.resolve(model.model, named: model.sourceName, .init())
    var generate: [JSONValue.Member] = [.init("modelPath", .string(path))]
    if let version { generate.append(.init("modelVersion", .string(version))) }
    generate.append(.init("outputDir", .string("Sources/Models")))
    if style == .explicit { generate.append(.init("typeMappings", typeMappings)) }
    let attributes = rules(resolved.entities) { entity in
      entity.attributes.map { ($0.persistentName, rule(of: $0, style)) }
    }
    let relationships = rules(resolved.entities) { entity in
      entity.relationships.map { ($0.persistentName, rule(of: $0, style)) }
    }
    if !attributes.isEmpty { generate.append(.init("attributeRules", .object(attributes))) }
    if !relationships.isEmpty { generate.append(.init("relationshipRules", .object(relationships))) }
    if style == .explicit, !resolved.compositions.isEmpty {
      generate.append(
        .init("compositionRules", .object(resolved.compositions.map { .init($0.name, fieldRules(of: $0)) })))
    }
    let proposals = try store.map { try DataProposals(model: model.model, store: $0).proposals() }
    return document(generate, [.init("sourceDir", .string("Sources"))], proposals)
  }

  private static func document(
    _ generate: [JSONValue.Member], _ validate: [JSONValue.Member], _ proposals: Proposals?
  ) -> String {
    var members: [JSONValue.Member] = [
      .init("$schemaVersion", .int(1)), .init("generate", .object(generate)),
      .init("validate", .object(validate)),
    ]
    if let proposals { members.append(.init("proposals", json(of: proposals))) }
    return JSONValue.object(members).text() + "\n"
  }

  // MARK: Rules

  private static func rules(
    _ entities: [ResolvedEntity], _ read: (ResolvedEntity) -> [(name: String, rule: [JSONValue.Member])]
  ) -> [JSONValue.Member] {
    entities.compactMap { entity in
      let rules = read(entity).filter { !$0.rule.isEmpty }
      guard !rules.isEmpty else { return nil }
      return .init(entity.name, .object(rules.map { .init($0.name, .object($0.rule)) }))
    }
  }

  private static func rule(of attribute: ResolvedAttribute, _ style: Style) -> [JSONValue.Member] {
    var rule: [JSONValue.Member] = []
    if style == .explicit || attribute.swiftName != attribute.persistentName {
      rule.append(.init("swiftName", .string(attribute.swiftName)))
    }
    guard style == .explicit || attribute.storage != .default else { return rule }
    rule += [
      .init("swiftType", .string(attribute.swiftType)),
      .init("storageMethod", .string(attribute.storage.rawValue)),
    ]
    if let name = attribute.transformerName { rule.append(.init("transformerName", .string(name))) }
    return rule
  }

  private static func rule(of relationship: ResolvedRelationship, _ style: Style) -> [JSONValue.Member] {
    guard style == .explicit || relationship.swiftName != relationship.persistentName else { return [] }
    return [.init("swiftName", .string(relationship.swiftName))]
  }

  private static func fieldRules(of composition: ResolvedComposition) -> JSONValue {
    .object(
      composition.fields.map { field in
        .init(
          field.persistentName,
          .object([
            .init("swiftName", .string(field.swiftName)),
            .init("swiftType", .string(TypeText(field.declaredType).name)),
          ]))
      })
  }

  private static func json(of proposals: Proposals) -> JSONValue {
    .object([
      .init(
        "enumerations",
        .array(
          proposals.enumerations.map {
            .object([
              .init("entity", .string($0.entity)), .init("attribute", .string($0.attribute)),
              .init("swiftType", .string($0.swiftType)), .init("values", .array($0.values)),
              .init("accepted", .bool($0.accepted)),
            ])
          })),
      .init(
        "compositions",
        .array(
          proposals.compositions.map {
            .object([
              .init("entity", .string($0.entity)), .init("swiftName", .string($0.swiftName)),
              .init("swiftType", .string($0.swiftType)),
              .init("fields", .object($0.fields.map { .init($0.name, .string($0.attribute)) })),
              .init("accepted", .bool($0.accepted)),
            ])
          })),
    ])
  }

  /// Writes a configuration file.
  ///
  /// - Throws: ``ToolError`` if there is one and `replaces` is false.
  public static func write(_ text: String, to url: URL, replaces: Bool) throws -> Answer {
    guard replaces || !FileManager.default.fileExists(atPath: url.path) else {
      throw ToolError("\(url.path) exists. Choose another file, or replace it with --force.")
    }
    try FileReplacement.write(Array(text.utf8), to: url)
    return Answer(
      [.text("Written to \(url.path).")], json: .object([.init("destination", .string(url.path))]))
  }
}

extension ResolvedModel {
  /// The answer of `cde model inspect`.
  public func answer() -> Answer {
    Answer([.text(json.text())], json: json)
  }

  var json: JSONValue {
    .object([
      .init("format", .int(1)), .init("model", .string(name)),
      .init("versionChecksum", .string(versionChecksum)), .init("kind", .string(kind.rawValue)),
      .init("moduleName", .optional(moduleName)), .init("accessLevel", .string(accessLevel.rawValue)),
      .init("keepsVersion", .bool(keepsVersion)), .init("entities", .array(entities.map(\.json))),
      .init(
        "enumerations",
        .array(
          enumerations.map { enumeration in
            .object([
              .init("swiftType", .string(enumeration.name)), .init("rawType", .string(enumeration.rawType)),
              .init(
                "cases",
                .array(
                  enumeration.cases.map {
                    .object([.init("name", .string($0.name)), .init("rawValue", .string($0.literal))])
                  })),
            ])
          })),
      .init(
        "compositions",
        .array(
          compositions.map { composition in
            .object([
              .init("swiftType", .string(composition.name)),
              .init(
                "fields",
                .array(
                  composition.fields.map {
                    .object([
                      .init("persistentName", .string($0.persistentName)),
                      .init("swiftName", .string($0.swiftName)),
                      .init("swiftType", .string($0.declaredType)),
                    ])
                  })),
            ])
          })),
      .init(
        "remarks",
        .array(
          remarks.map {
            .object([
              .init("text", .string($0.sentence)), .init("changesVersion", .bool($0.changesVersion)),
            ])
          })),
      .init(
        "problems",
        .array(
          problems.map {
            .object([.init("place", .string($0.place)), .init("text", .string($0.text))])
          })),
    ])
  }
}

extension JSONValue {
  static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}

extension ResolvedEntity {
  fileprivate var json: JSONValue {
    .object([
      .init("name", .string(name)), .init("swiftName", .string(className)),
      .init("parent", .optional(parentName)), .init("isAbstract", .bool(isAbstract)),
      .init("attributes", .array(attributes.map(\.json))),
      .init("relationships", .array(relationships.map(\.json))),
      .init(
        "groups",
        .array(
          groups.map { group in
            .object([
              .init("swiftName", .string(group.swiftName)), .init("swiftType", .string(group.swiftType)),
              .init("fields", .object(group.fields.map { .init($0.name, .string($0.property)) })),
            ])
          })),
      .init(
        "compoundConstraints", .array(compoundConstraints.map { .array($0.map { .string($0) }) })),
    ])
  }
}

extension ResolvedAttribute {
  fileprivate var json: JSONValue {
    .object([
      .init("persistentName", .string(persistentName)), .init("swiftName", .string(swiftName)),
      .init("attributeType", .string(typeName)), .init("swiftType", .string(swiftType)),
      .init("isOptional", .bool(isOptional)), .init("storageMethod", .string(storage.rawValue)),
      .init("transformerName", .optional(transformerName)),
      .init("decodeFailurePolicy", .optional(decodeFailurePolicy?.rawValue)),
      .init("isUnique", .bool(isUnique)), .init("isTransient", .bool(isTransient)),
      .init("isPreservedOnDeletion", .bool(isPreserved)),
      .init("rules", .array(rules.map { .string($0) })), .init("default", .optional(defaultText)),
      .init("formerName", .optional(formerName)), .init("ignoreOptionality", .bool(ignoresOptionality)),
    ])
  }
}

extension ResolvedRelationship {
  fileprivate var json: JSONValue {
    .object([
      .init("persistentName", .string(persistentName)), .init("swiftName", .string(swiftName)),
      .init("destination", .string(destination)), .init("swiftType", .string(declaredType)),
      .init("isToMany", .bool(isToMany)), .init("isOrdered", .bool(isOrdered)),
      .init("isOptional", .bool(isOptional)), .init("inverse", .string(inverse)),
      .init("deleteRule", .string(deleteRule)),
      .init("minimumModelCount", minimumCount.map { .int($0) } ?? .null),
      .init("maximumModelCount", maximumCount.map { .int($0) } ?? .null),
      .init("formerName", .optional(formerName)),
    ])
  }
}

/// The model as Xcode stores it.
struct ModelFile {
  let model: Model
  /// Older versions lack the last entity and an attribute of each other one.
  let isOld: Bool

  var text: String {
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
      #"<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" "#
        + #"systemVersion="23A344" minimumToolsVersion="Automatic" sourceLanguage="Swift" "#
        + #"userDefinedModelVersionIdentifier="\#(isOld ? "1" : "2")">"#,
    ]
    for entity in model.entities.sorted(by: { $0.name < $1.name }) { lines += element(of: entity) }
    lines += [
      #"    <composite name="Place">"#,
      #"        <attribute name="latitude" optional="YES" attributeType="Double" usesScalarValueType="YES"/>"#,
      #"        <attribute name="longitude" optional="YES" attributeType="Double" usesScalarValueType="YES"/>"#,
      "    </composite>",
    ]
    lines += [#"    <configuration name="Local">"#]
    lines += model.entities.map { #"        <memberEntity name="\#($0.name)"/>"# }
    lines += ["    </configuration>", "</model>", ""]
    return lines.joined(separator: "\n")
  }

  private func element(of entity: Entity) -> [String] {
    var head = #"    <entity name="\#(entity.name)""#
    let prefix = entity.form == .dot ? "." : entity.form == .module ? "Large." : ""
    head += #" representedClassName="\#(prefix)\#(entity.className)""#
    if entity.isAbstract { head += #" isAbstract="YES""# }
    if let parent = entity.parent { head += #" parentEntity="\#(model.entities[parent].name)""# }
    head += #" syncable="YES""#
    switch entity.generation {
    case .manual: break
    case .category: head += #" codeGenerationType="category""#
    case .definition: head += #" codeGenerationType="class""#
    }
    var lines = [head + ">"]
    // Inferred migrations add properties: the old version has one attribute less.
    let attributes =
      isOld && entity.attributes.count > 4 ? Array(entity.attributes.dropLast()) : entity.attributes
    lines += attributes.sorted { $0.name < $1.name }.flatMap(element(of:))
    switch entity.special {
    case .derived:
      lines.append(
        #"        <attribute name="searchKey" optional="YES" attributeType="String" derived="YES" "#
          + #"derivationExpression="canonical:(\#(entity.attributes[0].name))"/>"#)
    case .composite:
      lines.append(
        #"        <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>"#)
    case nil: break
    }
    lines += entity.relationships.sorted { $0.name < $1.name }.map(element(of:))
    let names = Set(attributes.map(\.name))
    for (number, index) in entity.indexes.enumerated() where index.allSatisfy(names.contains) {
      lines.append(#"        <fetchIndex name="by\#(entity.name)\#(number)">"#)
      for (place, property) in index.enumerated() {
        lines.append(
          #"            <fetchIndexElement property="\#(property)" type="Binary" "#
            + #"order="\#(place == 0 ? "ascending" : "descending")"/>"#)
      }
      lines.append("        </fetchIndex>")
    }
    if !entity.uniqueness.isEmpty {
      lines.append("        <uniquenessConstraints>")
      for constraint in entity.uniqueness {
        lines.append("            <uniquenessConstraint>")
        lines += constraint.map { #"                <constraint value="\#($0)"/>"# }
        lines.append("            </uniquenessConstraint>")
      }
      lines.append("        </uniquenessConstraints>")
    }
    return lines + ["    </entity>"]
  }

  private func element(of attribute: Attribute) -> [String] {
    var pairs = [("name", attribute.name)]
    if attribute.isOptional { pairs.append(("optional", "YES")) }
    if attribute.isTransient { pairs.append(("transient", "YES")) }
    pairs.append(("attributeType", attribute.kind.xml))
    if let standard = attribute.standard { pairs.append(("defaultValueString", standard)) }
    if attribute.kind.isNumber || [.date, .uuid, .state, .level].contains(attribute.kind) {
      pairs.append(("usesScalarValueType", attribute.isScalar ? "YES" : "NO"))
    }
    pairs += attribute.extra
    let head = "        <attribute" + pairs.map { #" \#($0)="\#($1)""# }.joined()
    if attribute.userInfo.isEmpty { return [head + "/>"] }
    return [head + ">", "            <userInfo>"]
      + attribute.userInfo.map { #"                <entry key="\#($0)" value="\#($1)"/>"# }
      + ["            </userInfo>", "        </attribute>"]
  }

  private func element(of relationship: Relationship) -> String {
    let destination = model.entities[relationship.destination].name
    var pairs = [("name", relationship.name), ("optional", "YES")]
    pairs.append(relationship.form == .toOne ? ("maxCount", "1") : ("toMany", "YES"))
    pairs.append(("deletionRule", relationship.rule))
    if relationship.form == .ordered { pairs.append(("ordered", "YES")) }
    pairs.append(("destinationEntity", destination))
    if let inverse = relationship.inverse {
      pairs += [("inverseName", inverse), ("inverseEntity", destination)]
    }
    return "        <relationship" + pairs.map { #" \#($0)="\#($1)""# }.joined() + "/>"
  }
}

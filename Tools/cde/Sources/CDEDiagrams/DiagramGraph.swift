import CDEManagedModel

/// A model as boxes with rows, and lines between rows.
struct DiagramGraph {
  struct Row {
    let name: String
    let detail: String
    let isRelationship: Bool
  }

  struct Box {
    let name: String
    let isAbstract: Bool
    let rows: [Row]
  }

  struct End {
    let box: Int
    /// The row of the relationship; nil for the box's title.
    let row: Int?
    /// How many objects of this end belong to one of the other; nil if no relationship says so.
    let isMany: Bool?
  }

  struct Line {
    let from: End
    let to: End
    let isInheritance: Bool
  }

  private(set) var boxes: [Box] = []
  private(set) var lines: [Line] = []

  /// - Parameter showsAttributes: whether the boxes have rows for attributes; relationships always have.
  init(_ model: NSManagedObjectModel, showsAttributes: Bool) {
    let entities = model.sortedEntities
    var numbers: [String: Int] = [:]
    var rows: [[String: Int]] = []
    for (number, entity) in entities.enumerated() {
      numbers[entity.name ?? ""] = number
      let own = entity.ownStored
      let attributes = own.compactMap { $0 as? NSAttributeDescription }
      let relationships = own.compactMap { $0 as? NSRelationshipDescription }
      var list: [Row] = []
      var places: [String: Int] = [:]
      if showsAttributes {
        list += attributes.map {
          Row(name: $0.name, detail: $0.typeName + ($0.isOptional ? "?" : ""), isRelationship: false)
        }
      }
      for relationship in relationships {
        places[relationship.name] = list.count
        let target = relationship.destinationEntity?.name ?? "no entity"
        let many =
          relationship.isToMany ? (relationship.isOrdered ? "[…]" : "*") : relationship.isOptional ? "?" : ""
        let rule = relationship.deleteRule == .nullifyDeleteRule ? "" : " · \(relationship.ruleName)"
        list.append(Row(name: relationship.name, detail: "→ \(target)\(many)\(rule)", isRelationship: true))
      }
      boxes.append(Box(name: entity.name ?? "", isAbstract: entity.isAbstract, rows: list))
      rows.append(places)
    }
    for (number, entity) in entities.enumerated() {
      if let parent = entity.superentity?.name.flatMap({ numbers[$0] }) {
        lines.append(
          Line(
            from: End(box: number, row: nil, isMany: nil), to: End(box: parent, row: nil, isMany: nil),
            isInheritance: true))
      }
      for case let relationship as NSRelationshipDescription in entity.ownStored {
        guard let target = relationship.destinationEntity?.name.flatMap({ numbers[$0] }),
          let row = rows[number][relationship.name]
        else { continue }
        let inverse = relationship.inverseRelationship
        let other = inverse?.entity?.name.flatMap { numbers[$0] } ?? target
        let otherRow = inverse.flatMap { rows[other][$0.name] }
        // A relationship and its inverse are one line, which the first of both makes.
        if let otherRow, (other, otherRow) < (number, row) { continue }
        lines.append(
          Line(
            from: End(box: number, row: row, isMany: inverse.map(\.isToMany)),
            to: End(box: otherRow == nil ? target : other, row: otherRow, isMany: relationship.isToMany),
            isInheritance: false))
      }
    }
  }
}

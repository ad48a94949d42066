internal import CDEStore

/// The indexes of an entity in the form of the store layer.
struct EntityIndexes {
  private let entity: NSEntityDescription
  private let properties: [String: NSPropertyDescription]
  private(set) var indexes: [StoreIndex] = []
  /// What the model indexes and the store does not, one sentence for each index.
  private(set) var remarks: [String] = []

  init(of entity: NSEntityDescription) {
    self.entity = entity
    properties = entity.collectedProperties()
    for property in entity.ownProperties where property.isIndexed && !property.isTransient {
      guard !(property is NSFetchedPropertyDescription) else { continue }
      indexes.append(
        StoreIndex(
          name: property.name, kind: .indexedAttribute, elements: [.init(property: property.name)]))
    }
    // The store has no indexes on expressions. Without one a fetch has the same result.
    for index in entity.indexes where index.elements.allSatisfy({ $0.expressionFormat == nil }) {
      append(
        StoreIndex(
          name: index.name,
          elements: index.elements.map { element in
            .init(
              property: element.propertyName ?? "", isAscending: element.isAscending,
              isSpatial: element.collationType == .rTree)
          },
          // Without a part of its condition an index has more rows, which changes no result.
          partialNotNil: index.partialNotNil.filter { !isToMany($0) }))
    }
    for names in entity.compoundIndexNames {
      append(
        StoreIndex(
          name: names.joined(separator: "_"), kind: .compound, elements: names.map { .init(property: $0) }))
    }
  }

  /// Whether the element of an index is the entity of a row.
  static func isEntity(_ name: String, of properties: [String: NSPropertyDescription]) -> Bool {
    name == StoreIndex.Element.entity && properties[name] == nil
  }

  private func isToMany(_ name: String) -> Bool {
    (properties[name] as? NSRelationshipDescription)?.isToMany ?? false
  }

  /// Adds an index without its to-many relationships, which have no column.
  private mutating func append(_ index: StoreIndex) {
    var kept = index
    kept.elements.removeAll { isToMany($0.property) }
    if kept.elements.count < index.elements.count, index.elements.count > 1 {
      let names = index.elements.map(\.property).filter(isToMany).joined(separator: ", ")
      remarks.append(
        "The index \(index.name) of \(entity.name ?? "") leaves out \(names), because a to-many relationship has no "
          + "column. Fetches are the same without it.")
    }
    if !kept.elements.isEmpty { indexes.append(kept) }
  }
}

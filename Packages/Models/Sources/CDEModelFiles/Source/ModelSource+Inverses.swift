extension ModelSource {
  /// Warnings about inverses that are no relationships of the destination, nor of its parents.
  func inverseWarnings() -> [Warning] {
    let named = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    var result: [Warning] = []
    for entity in entities {
      for relationship in entity.relationships {
        guard let inverse = relationship.inverseName else { continue }
        let owner = relationship.inverseEntity.flatMap { named[$0] } ?? named[relationship.destination]
        // A destination that is missing is an error.
        guard let owner, !has(inverse, owner, named) else { continue }
        result.append(
          Warning(
            file: file, line: relationship.common.line,
            text:
              "The relationship \(entity.name).\(relationship.name) names the inverse \(inverse), and \(owner.name) has no such "
              + "relationship. It has no inverse. Correct the name."))
      }
    }
    return result
  }

  private func has(_ relationship: String, _ entity: Entity, _ named: [String: Entity]) -> Bool {
    var seen: Set<String> = []
    var next: Entity? = entity
    // Parents in a circle are an error that is found later.
    while let entity = next, seen.insert(entity.name).inserted {
      if entity.relationships.contains(where: { $0.name == relationship }) { return true }
      next = entity.parentName.flatMap { named[$0] }
    }
    return false
  }
}

/// Finds the other side of each relationship.
///
/// An inverse that is written at one side is that of both. An inverse that is not written is inferred, if exactly one property of
/// the destination can be it, and the other way round. Two properties with one model each, of one class to itself, are not
/// inferred to be inverses: they are `mother` and `father` more often than `previous` and `next`.
struct InverseResolver {
  private struct Side {
    let entity: Schema.Entity
    let relationship: Schema.Relationship
    var title: String { "\(entity.name).\(relationship.name)" }
    var isOpen: Bool { relationship.inverseName == nil && relationship.inverseKeyPath == nil }
  }

  private let sides: [Side]
  private let byName: [String: Schema.Entity]
  private(set) var problems: [SwiftDataError] = []

  init(_ entities: [Schema.Entity]) {
    byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
    sides = entities.flatMap { entity in
      entity.ownRelationships.map { Side(entity: entity, relationship: $0) }
    }
  }

  mutating func resolve() {
    var written: [(Side, Side)] = []
    for side in sides where side.relationship.hasWrittenInverse {
      if let other = writtenInverse(of: side) { written.append((side, other)) }
    }
    for (side, other) in written { connect(side, other) }
    infer()
  }

  /// The relationships that an entity has, inherited ones included.
  private func sides(of entity: Schema.Entity) -> [Side] {
    sides.filter { entity.isKind(of: $0.entity) }
  }

  // MARK: Written inverses

  private mutating func writtenInverse(of side: Side) -> Side? {
    let relationship = side.relationship
    guard let destination = byName[relationship.destination] else { return nil }
    let found = sides(of: destination).first { other in
      if let name = relationship.inverseName { return other.relationship.name == name }
      return other.relationship.keypath != nil && other.relationship.keypath == relationship.inverseKeyPath
    }
    guard let found else {
      let written = relationship.inverseName.map { "\(destination.name).\($0)" } ?? "a property"
      note(
        side,
        "names \(written) as its inverse, which is no relationship of \(destination.name). Name a property of "
          + "\(destination.name), by the class that declares it.")
      return nil
    }
    guard let back = byName[found.relationship.destination],
      side.entity.isKind(of: back) || back.isKind(of: side.entity)
    else {
      note(
        side,
        "has the inverse \(found.title), which leads to \(found.relationship.destination). The inverse has to lead back to "
          + "\(side.entity.name).")
      return nil
    }
    relationship.inverseName = found.relationship.name
    return found
  }

  private mutating func connect(_ side: Side, _ other: Side) {
    let (mine, theirs) = (side.relationship, other.relationship)
    mine.inverseName = theirs.name
    mine.inverseKeyPath = theirs.keypath
    guard let known = theirs.inverseName else {
      theirs.inverseName = mine.name
      theirs.inverseKeyPath = mine.keypath
      return
    }
    let owner = byName[theirs.destination]
    let isMine =
      known == mine.name && owner.map { $0.isKind(of: side.entity) || side.entity.isKind(of: $0) } ?? false
    guard !isMine else { return }
    let rival = "\(theirs.destination).\(known)"
    note(
      side,
      "has the inverse \(other.title), which has the inverse \(rival) already. A relationship has one inverse: write "
        + "another one at \(side.title) or at \(rival).")
  }

  // MARK: Inferred inverses

  private mutating func infer() {
    var told: Set<String> = []
    for side in sides where side.isOpen {
      let candidates = candidates(for: side)
      guard let only = candidates.first else { continue }
      let rivals = self.candidates(for: only)
      guard candidates.count > 1 || rivals.count > 1 else {
        connect(side, only)
        continue
      }
      // Each side of an ambiguity finds it, and one message is enough.
      let (one, several) = candidates.count > 1 ? (side, candidates) : (only, rivals)
      guard told.insert(one.title).inserted else { continue }
      let titles = several.map(\.title)
      problems.append(
        SwiftDataError(
          .ambiguousInverse,
          "The inverse of \(one.title) may be \(titles.dropLast().joined(separator: ", ")) or \(titles.last ?? ""). Write "
            + "which one it is: @Relationship(inverse: \\\(titles[0])) at \(one.title).",
          entity: one.entity.name, property: one.relationship.name))
    }
  }

  /// The relationships of the destination that may be the inverse.
  private func candidates(for side: Side) -> [Side] {
    guard let destination = byName[side.relationship.destination] else { return [] }
    return sides(of: destination).filter { other in
      let isToItself = destination === side.entity
      return other.isOpen && other.relationship !== side.relationship
        && other.relationship.destination == side.entity.name
        && !(isToItself && other.relationship.isToOneRelationship && side.relationship.isToOneRelationship)
    }
  }

  private mutating func note(_ side: Side, _ text: String) {
    problems.append(
      SwiftDataError(
        .invalidInverse, "\(side.title) \(text)", entity: side.entity.name, property: side.relationship.name))
  }
}

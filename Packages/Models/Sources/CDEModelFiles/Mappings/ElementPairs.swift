@_spi(CDE) internal import CDEManagedModel

/// Which elements of two versions of a composite attribute are the same: by renaming identifiers, then by names.
struct ElementPairs {
  /// The new elements, and the old ones whose values they have.
  private(set) var pairs: [(new: NSAttributeDescription, old: NSAttributeDescription?)] = []
  /// A new element that may come from several old ones, or from the same one as another new element.
  private(set) var ambiguous: NSAttributeDescription?

  init(_ new: NSCompositeAttributeDescription, _ old: NSCompositeAttributeDescription) {
    let former = old.elements
    // The element of an enumeration of SwiftData's has the attribute's name, and is renamed with it.
    let isNamedAlike = former.contains { $0.name == old.name } && !former.contains { $0.name == new.name }
    let matches = NameMatches(
      new.elements.map { element in
        let isOwn = isNamedAlike && element.name == new.name && element.renamingIdentifier == element.name
        return .init(name: element.name, identifier: isOwn ? old.name : element.renamingIdentifier)
      }, among: former.map { .init(name: $0.name, identifier: $0.renamingIdentifier) })
    for (element, match) in zip(new.elements, matches.results) {
      switch match {
      case .none: pairs.append((element, nil))
      case .one(let found): pairs.append((element, former[found]))
      case .several, .shared:
        pairs.append((element, nil))
        ambiguous = element
      }
    }
  }

  /// The leaves of a composite attribute with the old leaves whose values they have; empty for other attributes.
  static func leaves(
    of new: NSPropertyDescription, from old: NSPropertyDescription
  ) -> [InferredMapping.Element] {
    guard let new = new as? NSCompositeAttributeDescription, let old = old as? NSCompositeAttributeDescription
    else { return [] }
    return ElementPairs(new, old).pairs.flatMap { element, former -> [InferredMapping.Element] in
      guard let former else { return [] }
      if !(element is NSCompositeAttributeDescription), !(former is NSCompositeAttributeDescription) {
        return [.init(path: [element.name], source: [former.name])]
      }
      return leaves(of: element, from: former).map {
        .init(path: [element.name] + $0.path, source: [former.name] + $0.source)
      }
    }
  }

  /// The paths of a composite's leaves; an empty path for another attribute.
  static func leafPaths(of attribute: NSAttributeDescription) -> [[String]] {
    guard let composite = attribute as? NSCompositeAttributeDescription else { return [[]] }
    return composite.elements.flatMap { element in leafPaths(of: element).map { [element.name] + $0 } }
  }

  /// A new element whose former name is not clear, on any level.
  static func ambiguous(_ new: NSPropertyDescription, _ old: NSPropertyDescription) -> NSAttributeDescription?
  {
    guard let new = new as? NSCompositeAttributeDescription, let old = old as? NSCompositeAttributeDescription
    else { return nil }
    let found = ElementPairs(new, old)
    if let ambiguous = found.ambiguous { return ambiguous }
    for case (let element, let former?) in found.pairs {
      if let ambiguous = ambiguous(element, former) { return ambiguous }
    }
    return nil
  }
}

internal import Foundation

// As in Core Data, descriptions are equal if they say the same. Programs find the version of a model by comparing its entities.

/// Whether two values of a description are equal. Dictionaries and lists of any values have no equality in Swift.
func isSameValue(_ first: Any?, _ second: Any?) -> Bool {
  guard let first, let second else { return first == nil && second == nil }
  if let first = first as? [AnyHashable: Any], let second = second as? [AnyHashable: Any] {
    return first.count == second.count && first.allSatisfy { isSameValue($0.value, second[$0.key]) }
  }
  if let first = first as? [Any], let second = second as? [Any] {
    return first.count == second.count && zip(first, second).allSatisfy { isSameValue($0, $1) }
  }
  guard let first = first as? AnyHashable, let second = second as? AnyHashable else {
    return first as AnyObject === second as AnyObject
  }
  return first == second
}

extension NSPropertyDescription {
  func saysTheSame(as other: NSPropertyDescription) -> Bool {
    type(of: self) == type(of: other) && name == other.name && entity?.name == other.entity?.name
      && hasSameFields(as: other)
  }

  /// What all kinds of properties have.
  func hasSameCommonFields(as other: NSPropertyDescription) -> Bool {
    isOptional == other.isOptional && isTransient == other.isTransient && isIndexed == other.isIndexed
      && isIndexedBySpotlight == other.isIndexedBySpotlight
      && renamingIdentifier == other.renamingIdentifier && versionHashModifier == other.versionHashModifier
      && isSameValue(userInfo ?? [:], other.userInfo ?? [:])
      && validationPredicates == other.validationPredicates
      && isSameValue(validationWarnings, other.validationWarnings)
  }
}

extension NSEntityDescription {
  func saysTheSame(as other: NSEntityDescription) -> Bool {
    // Cheap differences first: objects of two entities are compared more often than two versions of one.
    name == other.name && isAbstract == other.isAbstract
      && managedObjectClassName == other.managedObjectClassName
      && superentity?.name == other.superentity?.name
      && renamingIdentifier == other.renamingIdentifier && versionHashModifier == other.versionHashModifier
      && isSameValue(userInfo ?? [:], other.userInfo ?? [:])
      && Set(subentities.map(\.name)) == Set(other.subentities.map(\.name))
      && isSameValue(uniquenessConstraints, other.uniquenessConstraints)
      && isSameValue(compoundIndexes, other.compoundIndexes)
      && indexes.count == other.indexes.count
      && zip(indexes, other.indexes).allSatisfy { $0.saysTheSame(as: $1) }
      && propertiesByName == other.propertiesByName
  }
}

extension NSFetchIndexDescription {
  fileprivate func saysTheSame(as other: NSFetchIndexDescription) -> Bool {
    name == other.name && elements.count == other.elements.count
      && partialIndexPredicate == other.partialIndexPredicate
      && zip(elements, other.elements).allSatisfy {
        $0.propertyName == $1.propertyName && $0.expressionFormat == $1.expressionFormat
          && $0.collationType == $1.collationType && $0.isAscending == $1.isAscending
      }
  }
}

extension NSManagedObjectModel {
  func saysTheSame(as other: NSManagedObjectModel) -> Bool {
    let names = configurationsByName.mapValues { Set($0.compactMap(\.name)) }
    return entities.count == other.entities.count && versionIdentifiers == other.versionIdentifiers
      && names == other.configurationsByName.mapValues { Set($0.compactMap(\.name)) }
      && Set(fetchRequestTemplates.keys) == Set(other.fetchRequestTemplates.keys)
      && entitiesByName == other.entitiesByName
  }
}

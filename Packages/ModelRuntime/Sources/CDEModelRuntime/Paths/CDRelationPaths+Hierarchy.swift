// In a relationship to a model of a hierarchy, the class itself names the properties, including inherited
// ones.

extension CDToOneRelationPath where Target: PersistentEntity, Target.PathRoot == CDHierarchyPaths {
  /// The path to a value of the related object.
  @_disfavoredOverload
  public subscript<Value>(dynamicMember member: KeyPath<Target, Value>) -> CDPath<Root, Value> {
    let leaf = Target.field(at: member)
    return CDPath(
      swiftPath: swiftPath + leaf.swiftPath, persistentPath: persistentPath + leaf.persistentPath,
      storageMethod: leaf.storageMethod)
  }

  /// The path to an object related to the related object.
  public subscript<Next: PersistentEntity>(
    dynamicMember member: KeyPath<Target, Next?>
  ) -> CDToOneRelationPath<Root, Next> {
    let next = Target.field(at: member)
    return CDToOneRelationPath<Root, Next>(
      swiftPath: swiftPath + next.swiftPath, persistentPath: persistentPath + next.persistentPath)
  }
}

extension CDQuantifiedToManyPath where Target: PersistentEntity, Target.PathRoot == CDHierarchyPaths {
  /// A value of the related objects, for comparisons.
  public subscript<Value>(dynamicMember member: KeyPath<Target, Value>) -> CDFilterField<Root, Value> {
    let leaf = Target.field(at: member)
    let relationship = Root.__cdMeta(forSwiftPath: relationshipSwiftPath)
    return CDFilterField(
      swiftPath: relationshipSwiftPath + leaf.swiftPath,
      persistentPath: relationship.map { $0.persistentPath + leaf.persistentPath },
      storageMethod: leaf.storageMethod, quantifier: quantifier)
  }
}

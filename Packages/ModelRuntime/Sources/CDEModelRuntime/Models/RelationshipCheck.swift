/// What expansions have the compiler check of a relationship.
///
/// A relationship to a type that is no model is one error here. Everything else that an expansion says of
/// the type has an overload that takes any, so that the compiler does not say the same in other words.
public enum _CDRelationshipCheck {
  /// Accepts a relationship to a model whose inverse exists. Does nothing when it is called: naming the
  /// inverse is the check.
  public static func check<Target: PersistentEntity>(_ target: Target.Type, inverse: Void) {}

  @_disfavoredOverload
  @available(
    *, unavailable,
    message:
      "a relationship leads to a @PersistentModel class; mark the class with @PersistentModel, or store a value with @Attribute(storageMethod: .codable)"
  )
  public static func check<Target>(_ target: Target.Type, inverse: Void) {}
}

extension CDFieldTableBuilder {
  /// Adds nothing: stands in where the target is no model, which `_CDRelationshipCheck` reports.
  @_disfavoredOverload
  public mutating func toOne<Target>(_ name: String, _ persistentName: String, _ target: Target.Type) {}

  /// Adds nothing: stands in where the target is no model, which `_CDRelationshipCheck` reports.
  @_disfavoredOverload
  public mutating func toMany<Target>(_ name: String, _ persistentName: String, _ target: Target.Type) {}
}

extension NSManagedObject {
  @_disfavoredOverload
  public final func _cdToOne<Target>(_ ordinal: CDOrdinal) -> Target? { nil }

  @_disfavoredOverload
  public final func _cdSetToOne<Target>(_ ordinal: CDOrdinal, _ target: Target?) {}

  @_disfavoredOverload
  public final func _cdToManySet<Target>(_ ordinal: CDOrdinal) -> Set<Target> { [] }

  @_disfavoredOverload
  public final func _cdToManyArray<Target>(_ ordinal: CDOrdinal) -> [Target] { [] }

  @_disfavoredOverload
  public final func _cdAdd<Target>(_ ordinal: CDOrdinal, _ target: Target) {}

  @_disfavoredOverload
  public final func _cdAdd<Target>(_ ordinal: CDOrdinal, contentsOf targets: some Sequence<Target>) {}

  @_disfavoredOverload
  public final func _cdRemove<Target>(_ ordinal: CDOrdinal, _ target: Target) {}

  @_disfavoredOverload
  public final func _cdRemove<Target>(_ ordinal: CDOrdinal, contentsOf targets: some Sequence<Target>) {}

  @_disfavoredOverload
  public final func _cdInsert<Target>(_ ordinal: CDOrdinal, _ target: Target, at index: Int) {}
}

/// The checks of a relationship that expansions leave to the compiler.
///
/// A relationship to a type that is no model causes one error here. All other uses of the type in an
/// expansion have an overload that accepts any type, so that the compiler does not report the same mistake
/// again.
public enum _CDRelationshipCheck {
  /// Accepts a relationship to a model whose inverse exists. The call does nothing. The check is the name of
  /// the inverse in the call.
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
  /// Adds nothing. Used if the target is no model, which `_CDRelationshipCheck` reports.
  @_disfavoredOverload
  public mutating func toOne<Target>(_ name: String, _ persistentName: String, _ target: Target.Type) {}

  /// Adds nothing. Used if the target is no model, which `_CDRelationshipCheck` reports.
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

public import Foundation

/// The common part of attributes, relationships and fetched properties.
///
/// As any description, it may be changed until a coordinator uses its model. Afterwards any change traps with
/// "Can't modify an immutable model.", and any thread may read it. Core Data has the same rule.
nonisolated public class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
  // Guard of @unchecked Sendable: mutable only until `immutable` is set, afterwards read-only.
  let immutable = ImmutableFlag()

  /// The name: a letter or underscore, then letters, digits and underscores.
  public var name: String = "" { willSet { requireMutable() } }

  /// Whether the property may be nil (or empty) when saved; `true` by default.
  public var isOptional = true { willSet { requireMutable() } }

  /// Whether the property is kept in memory only.
  public var isTransient = false { willSet { requireMutable() } }

  /// Requests a separate index. ``NSEntityDescription/indexes`` is the newer way.
  public var isIndexed = false { willSet { requireMutable() } }

  /// Whether the system's search index may contain the property. Kept for other programs; without an effect
  /// on Linux.
  public var isIndexedBySpotlight = false { willSet { requireMutable() } }

  /// Values for the application's own use. They are not part of the version hash.
  public var userInfo: [AnyHashable: Any]? { willSet { requireMutable() } }

  /// Conditions for saved values: predicates on `SELF`, which is the value. They are not part of the version
  /// hash. As in Core Data, they do not apply to nil.
  public private(set) var validationPredicates: [NSPredicate] = []

  /// The failure of each of ``validationPredicates``: a sentence, or one of Core Data's error codes as an
  /// `NSNumber`.
  public private(set) var validationWarnings: [Any] = []

  /// Sets the predicates that values must satisfy, and the messages for failures.
  ///
  /// - Parameters:
  ///   - predicates: predicates on `SELF`, for example `SELF >= 0`; nil for none.
  ///   - warnings: one for each predicate, in order. The library provides the text of missing ones.
  public func setValidationPredicates(
    _ predicates: [NSPredicate]?, withValidationWarnings warnings: [String]?
  ) {
    let texts = warnings ?? []
    setValidations(
      (predicates ?? []).enumerated().map { ($1, texts.indices.contains($0) ? texts[$0] : "") })
  }

  /// The same with error codes.
  @_spi(CDE) public func setValidations(_ validations: [(NSPredicate, Any)]) {
    requireMutable()
    validationPredicates = validations.map(\.0)
    validationWarnings = validations.map(\.1)
  }

  /// The property's name in the model's earlier version, for migrations.
  public var renamingIdentifier: String? {
    get { storedRenamingIdentifier ?? name }
    set {
      requireMutable()
      storedRenamingIdentifier = newValue
    }
  }
  var storedRenamingIdentifier: String?

  /// Set it to change the version hash although nothing else differs, for example after a change of encoding.
  public var versionHashModifier: String? { willSet { requireMutable() } }

  /// The entity that declares the property; nil for a property that no entity has yet, or whose entity was freed.
  ///
  /// Core Data's declaration is not optional, so a use may leave out the question mark.
  public internal(set) weak var entity: NSEntityDescription!

  public override init() { super.init() }

  /// The 32 bytes of the property in its entity's hash, computed as in Core Data.
  public var versionHash: Data { Data(hashBytes()) }

  /// A copy of this property that belongs to no entity and may be changed.
  public func copy(with zone: NSZone? = nil) -> Any { makeCopy() }

  public override var description: String {
    "<\(type(of: self)) \(entity?.name ?? "(no entity)").\(name)>"
  }

  /// Descriptions of the same kind are equal if they say the same of the same property.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPropertyDescription else { return false }
    return self === other || saysTheSame(as: other)
  }
  public override var hash: Int { name.hashValue }

  func requireMutable() { immutable.requireMutable("\(entity?.name ?? "(no entity)").\(name)") }

  /// Whether a description of the same kind has the same values.
  func hasSameFields(as other: NSPropertyDescription) -> Bool { hasSameCommonFields(as: other) }

  func makeCopy() -> NSPropertyDescription {
    let result = NSPropertyDescription()
    copyFields(to: result)
    return result
  }

  func copyFields(to other: NSPropertyDescription) {
    other.name = name
    other.isOptional = isOptional
    other.isTransient = isTransient
    other.isIndexed = isIndexed
    other.isIndexedBySpotlight = isIndexedBySpotlight
    other.userInfo = userInfo
    other.storedRenamingIdentifier = storedRenamingIdentifier
    other.versionHashModifier = versionHashModifier
    other.validationPredicates = validationPredicates
    other.validationWarnings = validationWarnings
  }

  func hashBytes() -> [UInt8] { baseHash() }
}

/// A property whose value is the result of a fetch. It has no column and is not part of version hashes.
nonisolated public final class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
  // Guard of @unchecked Sendable: as inherited, mutable only until the model is in use.

  /// The request whose result is the property's value. `$FETCH_SOURCE` in its condition is the object that
  /// has the property, and `$FETCHED_PROPERTY` is this description.
  @_spi(CDE) public var template: FetchRequestTemplate? { willSet { requireMutable() } }

  override func makeCopy() -> NSPropertyDescription {
    let result = NSFetchedPropertyDescription()
    copyFields(to: result)
    result.template = template
    return result
  }

  override func hasSameFields(as other: NSPropertyDescription) -> Bool {
    let (own, others) = (template, (other as? NSFetchedPropertyDescription)?.template)
    return super.hasSameFields(as: other) && own?.entityName == others?.entityName
      && own?.predicate == others?.predicate && own?.sortKeys == others?.sortKeys
  }
}

public import Foundation

/// What attributes, relationships and fetched properties have in common.
///
/// Like every description it may be changed until a coordinator uses the model it belongs to; afterwards
/// any change traps with "Can't modify an immutable model.", and it may be read from any thread. (Core
/// Data's rule.)
nonisolated public class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
  // Guard of @unchecked Sendable: mutable only until `immutable` is set, read-only ever after.
  let immutable = ImmutableFlag()

  /// The name: a letter or underscore, then letters, digits and underscores.
  public var name: String = "" { willSet { requireMutable() } }

  /// Whether the property may be nil (or empty) when saved. `true` unless said otherwise.
  public var isOptional = true { willSet { requireMutable() } }

  /// Whether the property is kept in memory only.
  public var isTransient = false { willSet { requireMutable() } }

  /// Asks for an index of its own; ``NSEntityDescription/indexes`` is the newer way.
  public var isIndexed = false { willSet { requireMutable() } }

  /// Anything the app wants to remember about the property; not part of the version hash.
  public var userInfo: [AnyHashable: Any]? { willSet { requireMutable() } }

  /// What a value must satisfy to be saved: predicates on `SELF`, the value itself. No part of the version
  /// hash. (Core Data's; a nil value is never asked.)
  public private(set) var validationPredicates: [NSPredicate] = []

  /// For each of ``validationPredicates`` what its failure is: a sentence, or one of Core Data's error codes
  /// as an `NSNumber`.
  public private(set) var validationWarnings: [Any] = []

  /// Sets the predicates that values must satisfy, and what to say when one does not.
  ///
  /// - Parameters:
  ///   - predicates: predicates on `SELF`, `SELF >= 0` say; nil for none.
  ///   - warnings: one for each predicate, in order; missing ones leave the wording to the library.
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

  /// Set to make the version hash differ although nothing else does, say after a change of encoding.
  public var versionHashModifier: String? { willSet { requireMutable() } }

  /// The entity that declares the property.
  public internal(set) weak var entity: NSEntityDescription?

  public override init() { super.init() }

  /// The 32 bytes that stand for the property in its entity's hash, as Core Data computes them.
  public var versionHash: Data { Data(hashBytes()) }

  /// A property like this one that belongs to no entity yet and may be changed.
  public func copy(with zone: NSZone? = nil) -> Any { makeCopy() }

  public override var description: String {
    "<\(type(of: self)) \(entity?.name ?? "(no entity)").\(name)>"
  }

  func requireMutable() { immutable.requireMutable("\(entity?.name ?? "(no entity)").\(name)") }

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
    other.userInfo = userInfo
    other.storedRenamingIdentifier = storedRenamingIdentifier
    other.versionHashModifier = versionHashModifier
    other.validationPredicates = validationPredicates
    other.validationWarnings = validationWarnings
  }

  func hashBytes() -> [UInt8] { baseHash() }
}

/// A property whose value is the result of a fetch. It has no column and no part in version hashes.
nonisolated public final class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
  // Guard of @unchecked Sendable: adds no state to the inherited, which is read-only once in use.
  override func makeCopy() -> NSPropertyDescription {
    let result = NSFetchedPropertyDescription()
    copyFields(to: result)
    return result
  }
}

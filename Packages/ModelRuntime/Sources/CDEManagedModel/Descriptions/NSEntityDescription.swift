public import Foundation
@_spi(CDE) internal import CDEExecutors

/// A kind of object: its name, its class, its properties, and its place in the inheritance tree.
///
/// It may be changed until a coordinator uses the model it belongs to; afterwards any change traps with
/// "Can't modify an immutable model.", and it may be read from any thread. (Core Data's rule.)
nonisolated public final class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
  // Guard of @unchecked Sendable: mutable only until `immutable` is set, read-only ever after; what the
  // freeze adds stands behind the mutex `facts`.
  let immutable = ImmutableFlag()

  /// What is worked out once, when the model is frozen.
  struct Facts: Sendable {
    var index: Int
    var versionHash: Data
    var propertiesByName: [String: NSPropertyDescription]
  }
  let facts = Lock<Facts?>(nil)

  /// The entity's name, unique in its model, by which fetch requests and stores refer to it.
  ///
  /// `nil` and names with white space, quotes or control characters are an error when the model is first
  /// used. The setter traps when the model is in use.
  public var name: String? { willSet { requireMutable() } }

  /// Name of the class of the entity's objects: `Module.Class`, or a name registered by the class itself.
  public var managedObjectClassName: String! = "NSManagedObject" { willSet { requireMutable() } }

  /// Whether there are no objects of this entity itself, only of its sub-entities.
  public var isAbstract = false { willSet { requireMutable() } }

  /// Anything the app wants to remember about the entity; not part of the version hash.
  public var userInfo: [AnyHashable: Any]? { willSet { requireMutable() } }

  /// Set to make the version hash differ although nothing else does.
  public var versionHashModifier: String? { willSet { requireMutable() } }

  /// The entity's name in the model's earlier version, for migrations.
  public var renamingIdentifier: String? {
    get { storedRenamingIdentifier ?? name }
    set {
      requireMutable()
      storedRenamingIdentifier = newValue
    }
  }
  var storedRenamingIdentifier: String?

  /// The model that the entity belongs to. Not retained.
  public internal(set) weak var managedObjectModel: NSManagedObjectModel!

  /// The entity that this one inherits from, which lists it in its ``subentities``. Not retained.
  public internal(set) weak var superentity: NSEntityDescription?

  /// The entities that inherit from this one. Setting it wires both sides.
  public var subentities: [NSEntityDescription] {
    get { storedSubentities }
    set {
      requireMutable()
      for child in newValue where isKindOf(entity: child) {
        failPrecondition(
          "An entity can't be its own ancestor: \(child.name ?? "") can't be put below \(name ?? "").")
      }
      for child in storedSubentities where child.superentity === self { child.superentity = nil }
      storedSubentities = newValue
      for child in newValue {
        child.requireMutable()
        if let former = child.superentity, former !== self {
          former.storedSubentities.removeAll { $0 === child }
        }
        child.superentity = self
      }
    }
  }
  private var storedSubentities: [NSEntityDescription] = []

  /// The sub-entities by name.
  public var subentitiesByName: [String: NSEntityDescription] {
    Dictionary(storedSubentities.compactMap { child in child.name.map { ($0, child) } }) { first, _ in first }
  }

  /// The properties, inherited ones first. Setting it replaces the entity's own; inherited ones in the new
  /// value are left with the entity that declares them.
  public var properties: [NSPropertyDescription] {
    get { (superentity?.properties ?? []) + ownProperties }
    set {
      requireMutable()
      for property in ownProperties { property.entity = nil }
      ownProperties = newValue.filter { property in
        guard let owner = property.entity, owner !== self else { return true }
        guard isKindOf(entity: owner) else {
          failPrecondition(
            "A property belongs to one entity: \(property.name) belongs to \(owner.name ?? "") already. "
              + "Give \(name ?? "") a copy() of it.")
        }
        return false
      }
      for property in ownProperties {
        property.requireMutable()
        property.entity = self
      }
    }
  }
  /// The properties that the entity declares itself, in the order given.
  @_spi(CDE) public private(set) var ownProperties: [NSPropertyDescription] = []

  /// Sets of properties whose values must be unique together. Give names or property descriptions; reads as
  /// names.
  public var uniquenessConstraints: [[Any]] {
    get { storedConstraints.map { $0.map { ($0 as? NSPropertyDescription)?.name ?? $0 } } }
    set {
      requireMutable()
      storedConstraints = newValue
    }
  }
  private var storedConstraints: [[Any]] = []

  /// The fetch indexes.
  public var indexes: [NSFetchIndexDescription] = [] {
    willSet { requireMutable() }
    didSet { for index in indexes { index.entity = self } }
  }

  /// Lists of properties indexed together, by name or description: the older form of ``indexes``. Reads as
  /// names.
  public var compoundIndexes: [[Any]] {
    get { storedCompoundIndexes.map { $0.map { ($0 as? NSPropertyDescription)?.name ?? $0 } } }
    set {
      requireMutable()
      storedCompoundIndexes = newValue
    }
  }
  private var storedCompoundIndexes: [[Any]] = []

  public override init() { super.init() }

  /// Whether the entity is `entity` or inherits from it.
  public func isKindOf(entity: NSEntityDescription) -> Bool {
    var current: NSEntityDescription? = self
    while let candidate = current {
      if candidate === entity { return true }
      current = candidate.superentity
    }
    return false
  }

  /// An entity with copies of the properties that this one declares. It has neither parent nor
  /// sub-entities, belongs to no model, and may be changed; its relationships point where the originals do.
  public func copy(with zone: NSZone? = nil) -> Any {
    let result = NSEntityDescription()
    result.name = name
    result.managedObjectClassName = managedObjectClassName
    result.isAbstract = isAbstract
    result.userInfo = userInfo
    result.versionHashModifier = versionHashModifier
    result.storedRenamingIdentifier = storedRenamingIdentifier
    result.properties = ownProperties.map { $0.makeCopy() }
    result.storedConstraints = uniquenessConstraints
    result.storedCompoundIndexes = compoundIndexes
    result.indexes = indexes.map { $0.copy() as! NSFetchIndexDescription }
    return result
  }

  public override var description: String { "<NSEntityDescription \(name ?? "(no name)")>" }

  func requireMutable() { immutable.requireMutable(name ?? "An entity") }

  func makeImmutable(_ facts: Facts) {
    self.facts.withLock { $0 = facts }
    immutable.set()
    func visit(_ property: NSPropertyDescription) {
      property.immutable.set()
      if let composite = property as? NSCompositeAttributeDescription { composite.elements.forEach(visit) }
    }
    ownProperties.forEach(visit)
    for index in indexes { index.makeImmutable() }
  }
}

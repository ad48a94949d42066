public import Foundation
@_spi(CDE) internal import CDEExecutors

/// A kind of object: its name, its class, its properties, and its position in the inheritance tree.
///
/// It may be changed until a coordinator uses its model. Afterwards any change traps with "Can't modify an
/// immutable model.", and any thread may read it. Core Data has the same rule.
nonisolated public final class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
  // Guard of @unchecked Sendable: mutable only until `immutable` is set, afterwards read-only. The mutex
  // `facts` protects what the freeze adds.
  let immutable = ImmutableFlag()

  /// Facts computed once, when the model is frozen.
  struct Facts: Sendable {
    var index: Int
    var versionHash: Data
    var propertiesByName: [String: NSPropertyDescription]
  }
  let facts = Lock<Facts?>(nil)

  /// The hash that a store has recorded for the entity, and the one that is computed for the same description.
  var recordedHash: (computed: Data, recorded: Data)?

  /// The entity's name, unique in its model. Fetch requests and stores use it.
  ///
  /// `nil`, and names with white space, quotes or control characters, are errors when the model is first
  /// used. The setter traps when the model is in use.
  public var name: String? { willSet { requireMutable() } }

  /// Name of the class of the entity's objects: `Module.Class`, or a name registered by the class itself.
  public var managedObjectClassName: String! = "NSManagedObject" { willSet { requireMutable() } }

  /// Whether only the sub-entities have objects, and this entity has none.
  public var isAbstract = false { willSet { requireMutable() } }

  /// Values for the application's own use. They are not part of the version hash.
  public var userInfo: [AnyHashable: Any]? { willSet { requireMutable() } }

  /// Set it to change the version hash although nothing else differs.
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

  /// The entity that this one inherits from. Its ``subentities`` contain this one. Not retained.
  public internal(set) weak var superentity: NSEntityDescription?

  /// The entities that inherit from this one. The setter updates both sides.
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

  /// The properties, inherited ones first. The setter replaces the entity's own properties. Inherited
  /// properties in the new value stay with the entity that declares them.
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
  /// The properties that the entity itself declares, in the given order.
  @_spi(CDE) public private(set) var ownProperties: [NSPropertyDescription] = []

  /// Sets of properties whose combined values must be unique. The setter accepts names or property
  /// descriptions. The getter returns names.
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

  /// Lists of properties indexed together, by name or description: the older form of ``indexes``. The getter
  /// returns names.
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

  /// An entity with copies of the properties that this one declares. It has neither parent nor sub-entities,
  /// belongs to no model, and may be changed. Its relationships have the same destinations as the originals.
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
    result.recordedHash = recordedHash
    return result
  }

  /// Entities are equal if they say the same, also of different models. Two versions of an entity mostly differ.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSEntityDescription else { return false }
    return self === other || saysTheSame(as: other)
  }
  public override var hash: Int { name.hashValue }

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

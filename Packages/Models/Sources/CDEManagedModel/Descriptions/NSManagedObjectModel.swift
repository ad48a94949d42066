public import Foundation
@_spi(CDE) internal import CDEExecutors

/// The entities of an application. A coordinator needs them to open stores and make objects.
///
/// A model may be built step by step, in any order, until a coordinator uses it. Then it is immutable, and
/// any change traps with "Can't modify an immutable model." Core Data has the same rule. Containers may share
/// an immutable model, and any thread may read it.
nonisolated public final class NSManagedObjectModel: NSObject, NSCopying, @unchecked Sendable {
  // Guard of @unchecked Sendable: mutable only until `immutable` is set, afterwards read-only. The mutex
  // `frozenForm` protects the frozen form.
  let immutable = ImmutableFlag()
  let frozenForm = Lock<FrozenModel?>(nil)

  /// The entities in the given order, including abstract ones and sub-entities. An entity belongs to one
  /// model.
  public var entities: [NSEntityDescription] {
    get { storedEntities }
    set {
      requireMutable()
      for entity in storedEntities { entity.managedObjectModel = nil }
      storedEntities = newValue
      for entity in newValue {
        if let owner = entity.managedObjectModel, owner !== self {
          failPrecondition(
            "An entity belongs to one model: \(entity.name ?? "") belongs to another already. "
              + "Give this model a copy() of it.")
        }
        entity.managedObjectModel = self
      }
    }
  }
  private var storedEntities: [NSEntityDescription] = []

  /// The module whose code made the model. Class names without a module mean its classes first.
  @_spi(CDE) public var callingModule: String?

  /// What has no effect in the file that the model was read from. It is told when the model is first used.
  @_spi(CDE) public var sourceRemarks: [String] = []

  /// Names of the model's version, for people. A store's metadata contains them.
  public var versionIdentifiers: Set<AnyHashable> = [] { willSet { requireMutable() } }

  var configurationsByName: [String: [NSEntityDescription]] = [:] { willSet { requireMutable() } }

  /// The fetch requests that the model describes, by name.
  @_spi(CDE) public var fetchRequestTemplates: [String: FetchRequestTemplate] = [:] {
    willSet { requireMutable() }
  }

  /// Makes a model without entities.
  public override init() { super.init() }

  /// The entities by name. If several have one name, which makes the model unusable, it contains the first.
  public var entitiesByName: [String: NSEntityDescription] {
    if let frozen = frozenForm.withLock({ $0 }) { return frozen.descriptionsByName }
    return Dictionary(storedEntities.compactMap { entity in entity.name.map { ($0, entity) } }) { first, _ in
      first
    }
  }

  /// Names of the configurations.
  public var configurations: [String] { configurationsByName.keys.sorted() }

  /// Core Data's name of the configuration that is the whole model.
  @_spi(CDE) public static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

  /// The entities of a configuration, or all entities for `nil` and for `PF_DEFAULT_CONFIGURATION_NAME`. Returns `nil` if the model has
  /// no such configuration.
  public func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    guard let configuration, configuration != Self.defaultConfigurationName else { return storedEntities }
    return configurationsByName[configuration]
  }

  /// Makes or replaces a configuration of some of the model's entities.
  public func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
    configurationsByName[configuration] = entities
  }

  /// The entities' version hashes by entity name.
  public var entityVersionHashesByName: [String: Data] { entitiesByName.mapValues(\.versionHash) }

  /// Whether a store with this metadata contains exactly the entities of the configuration (all for `nil`) in
  /// the same version. Such a store opens without a migration.
  public func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let entities = entities(forConfigurationName: configuration),
      let stored = Self.versionHashes(inStoreMetadata: metadata)
    else { return false }
    var hashes: [String: Data] = [:]
    for entity in entities {
      // A store also contains the ancestors of its entities.
      var current: NSEntityDescription? = entity
      while let held = current {
        hashes[held.name ?? ""] = held.versionHash
        current = held.superentity
      }
    }
    return hashes == stored
  }

  /// The whole model's checksum: SHA-256 over the entities' hashes by name, in base64. Xcode and staged
  /// migrations call it the version checksum.
  public var versionChecksum: String { ModelHashes.checksum(of: entityVersionHashesByName) }

  /// Models are equal if their entities, configurations, version identifiers and request templates are.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectModel else { return false }
    return self === other || saysTheSame(as: other)
  }
  public override var hash: Int { Set(entities.map(\.name)).hashValue }

  public override var description: String {
    "<NSManagedObjectModel \(storedEntities.map { $0.name ?? "(no name)" }.joined(separator: ", "))>"
  }

  func requireMutable() { immutable.requireMutable("The model") }
}

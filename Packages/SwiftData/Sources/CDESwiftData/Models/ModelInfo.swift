@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import Foundation
internal import Observation
internal import Synchronization

/// What the accessors of a model's class, and contexts, know of the class. One for each class and process.
public final class _ModelInfo: @unchecked Sendable {
  // Guard: immutable, except for the locked and the lazy values; what others than the first compute of a lazy one is dropped.

  /// The class.
  let type: any PersistentModel.Type
  /// The facts of the model that the class inherits from.
  let parent: _ModelInfo?
  /// The address of the facts, which are never freed, as their class is not; 0 before the first use. Accessors of many instances ask
  /// for it, and a counted reference would cost as much as the rest.
  private let factsAddress = Atomic<UInt>(0)
  /// Makes objects without a context, of the schema that new instances take.
  let objects = Lock<LooseObjects?>(nil)
  private let inverses = Lock<[Int: String?]>([:])

  /// What is read from the class's declaration, at the first use.
  final class Facts: @unchecked Sendable {
    // Guard: changed by its maker alone, before others see it.
    var names: [String] = []
    var wakers: [@Sendable (any PersistentModel, CDEObservationRegistrarBox) -> Void] = []
    var ordinals: [AnyKeyPath: Int] = [:]
    var valueTypes: [Any.Type] = []
    var shapes: [ValueShape?] = []
    var fieldOffset: Int?
    /// Makes instances that are nothing but the field; nil for a class with other stored properties.
    var instances: BareInstances?
  }

  /// The facts of a class.
  public static func of<Model: PersistentModel>(_ type: Model.Type) -> _ModelInfo { known(type) }

  private static let table = Lock<[ObjectIdentifier: _ModelInfo]>([:])

  static func known(_ type: any PersistentModel.Type) -> _ModelInfo {
    let id = ObjectIdentifier(type)
    if let known = table.withLock({ $0[id] }) { return known }
    let made = _ModelInfo(unregistered: type)
    return table.withLock { table in
      if let known = table[id] { return known }
      table[id] = made
      return made
    }
  }

  /// The facts of a class that is known by the first word of its instances.
  static func ofInstance(at base: UnsafeRawPointer) -> _ModelInfo? {
    // An identifier of a class is the address of its metadata, which is the first word of an instance.
    let id = unsafeBitCast(base.load(as: UInt.self), to: ObjectIdentifier.self)
    return table.withLock { $0[id] }
  }

  private init(unregistered type: any PersistentModel.Type) {
    self.type = type
    parent = (_getSuperclass(type) as? any PersistentModel.Type).map(_ModelInfo.known)
  }

  /// The names of a class's entity and of those of the known classes below it.
  static func names(from info: _ModelInfo) -> [String] {
    table.withLock { Array($0.values) }.filter { $0.descends(from: info) }.map {
      Schema.entityName(for: $0.type)
    }
    .sorted()
  }

  func descends(from other: _ModelInfo) -> Bool { self === other || parent?.descends(from: other) == true }

  // MARK: Properties

  private var facts: Facts { withFacts { $0 } }

  @inline(__always)
  private func withFacts<Result>(_ body: (Facts) -> Result) -> Result {
    let address = factsAddress.load(ordering: .acquiring)
    guard let known = UnsafeRawPointer(bitPattern: address == 0 ? storeFacts() : address) else {
      fatalError("Facts that were made have an address.")
    }
    return Unmanaged<Facts>.fromOpaque(known)._withUnsafeGuaranteedRef(body)
  }

  private func storeFacts() -> UInt {
    let made = Unmanaged.passRetained(makeFacts())
    let address = UInt(bitPattern: made.toOpaque())
    let (exchanged, first) = factsAddress.compareExchange(
      expected: 0, desired: address, ordering: .acquiringAndReleasing)
    if exchanged { return address }
    made.release()
    return first
  }

  private func makeFacts() -> Facts {
    let facts = Facts()
    var lineage: [any PersistentModel.Type] = [type]
    var level = parent
    while let next = level {
      lineage.append(next.type)
      level = next.parent
    }
    for type in lineage.reversed() {
      for metadata in type.schemaMetadata where !metadata.name.isEmpty {
        facts.ordinals[metadata.keypath] = facts.names.count
        facts.names.append(metadata.name)
        facts.wakers.append(Self.waker(metadata.keypath))
        let valueType = Swift.type(of: metadata.keypath).valueType
        facts.valueTypes.append(valueType)
        // A transformer takes the value itself.
        let isTransformable = (metadata.metadata as? Schema.Attribute)?.isTransformable == true
        facts.shapes.append(isTransformable ? nil : ValueShape.of(valueType))
      }
    }
    for (ordinal, path) in type._$propertyPaths().enumerated() { facts.ordinals[path] = ordinal }
    facts.fieldOffset = type.backingOffset
    facts.instances = type.bareInstances
    return facts
  }

  private static func waker(
    _ path: AnyKeyPath
  ) -> @Sendable (any PersistentModel, CDEObservationRegistrarBox) -> Void {
    guard let path = path as? any WakingPath else { return { _, _ in } }
    // A key path without captured values is immutable.
    let carried = Carried(path)
    return { model, registrar in carried.value.wake(model, registrar) }
  }

  private struct Carried: @unchecked Sendable {
    // Guard: immutable.
    let value: any WakingPath
    init(_ value: any WakingPath) { self.value = value }
  }

  /// Where the field of the class lies in its instances.
  var fieldOffset: Int? { facts.fieldOffset }

  /// Names of all properties, by ordinal.
  var names: [String] { facts.names }

  func wake(_ ordinal: Int, _ model: any PersistentModel, _ registrar: CDEObservationRegistrarBox) {
    facts.wakers[ordinal](model, registrar)
  }

  func ordinal(of path: AnyKeyPath) -> Int? { facts.ordinals[path] }

  func ordinal(named name: String) -> Int? { facts.names.firstIndex(of: name) }

  /// The name and the shape of an attribute whose type the runtime does not have.
  func attribute(_ ordinal: Int) -> (name: String, shape: ValueShape?) {
    let facts = facts
    return (facts.names[ordinal], facts.shapes[ordinal])
  }

  /// The name of the property on the other side of a relationship.
  func inverse(of ordinal: Int, in entity: NSEntityDescription) -> String? {
    if let known = inverses.withLock({ $0[ordinal] }) { return known }
    let found = entity.relationshipsByName[names[ordinal]]?.inverseRelationship?.name
    inverses.withLock { $0[ordinal] = .some(found) }
    return found
  }

  /// The key of a property in predicates and orders: an enumeration is compared by its raw value.
  func name(of path: AnyKeyPath) -> String? {
    let facts = facts
    guard let ordinal = facts.ordinals[path] else {
      return identityKey(path) ?? ValuePaths.key(of: path, among: metadata)
    }
    let name = facts.names[ordinal]
    return facts.shapes[ordinal]?.rawValuePath(name: name) ?? name
  }

  /// The properties of the class and of those above it.
  var metadata: [Schema.PropertyMetadata] { type.schemaMetadata + (parent?.metadata ?? []) }

  private func identityKey(_ path: AnyKeyPath) -> String? {
    Swift.type(of: path).valueType == PersistentIdentifier.self ? "objectID" : nil
  }

  // MARK: Instances

  /// Makes the object of an instance that no context has.
  func makeObject() -> _ModelObject {
    if let objects = objects.withLock({ $0 }) { return unsafeDowncast(objects.make(), to: _ModelObject.self) }
    return PreparedSchema.object(of: self)
  }

  /// An instance of the class as a model.
  func model(_ instance: AnyObject) -> any PersistentModel { type.model(instance) }

  /// Makes the instance of an object that a context has.
  func makeInstance(of object: _ModelObject, in context: ModelContext?) -> AnyObject {
    let bare = withFacts {
      $0.instances?.make {
        var fields = _ModelFields(nil, self)
        fields.adopt(object, in: context)
        $0.initializeMemory(as: _ModelFields.self, to: fields)
      }
    }
    if let bare { return bare }
    object.isBeingMade = true
    defer { object.isBeingMade = false }
    return InstanceMaking.with(object) { type.instance(of: object) }
  }

  /// The object of an instance in whose initialiser the first property is set, at the address of its field.
  func begin(field: UnsafeMutableRawPointer) -> _ModelObject {
    guard let offset = facts.fieldOffset else { return makeObject() }
    let base = UnsafeMutableRawPointer(field - offset)
    guard !StackRange.contains(base) else { return makeObject() }
    let isOfSelf =
      base.load(as: UInt.self) == unsafeBitCast(ObjectIdentifier(type), to: UInt.self)
    guard let actual = isOfSelf ? self : Self.ofInstance(at: base), actual.descends(from: self)
    else { return makeObject() }
    if parent != nil || actual !== self, let begun = InstanceMaking.begun(at: base) { return begun }
    let object = actual.makeObject()
    object.know(Unmanaged<AnyObject>.fromOpaque(base).takeUnretainedValue())
    if actual !== self || parent != nil { InstanceMaking.begin(object, at: base) }
    return object
  }
}

extension PersistentModel {
  fileprivate static func instance(of object: _ModelObject) -> AnyObject { Self(_$object: object) }

  fileprivate static func model(_ instance: AnyObject) -> any PersistentModel {
    unsafeDowncast(instance, to: Self.self)
  }

  /// Nil for a class with other stored properties than the field, which its initialiser sets.
  fileprivate static var bareInstances: BareInstances? {
    BareInstances(of: Self.self, bytes: MemoryLayout<_ModelFields>.size)
  }

  fileprivate static var backingOffset: Int? { FieldOffset.ofBacking(in: Self.self) }
}

/// A key path that wakes the readers of its property.
private protocol WakingPath {
  func wake(_ model: any PersistentModel, _ registrar: CDEObservationRegistrarBox)
}

extension KeyPath: WakingPath where Root: PersistentModel {
  func wake(_ model: any PersistentModel, _ registrar: CDEObservationRegistrarBox) {
    if let model = model as? Root { registrar.withMutation(of: model, keyPath: self) {} }
  }
}

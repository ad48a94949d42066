public import CDEManagedModel
@_spi(CDE) public import CDEModelRuntime

/// The object that holds the values of one model: one class for all entities.
///
/// The model's instance holds the object; the object knows the instance weakly, so that there is one instance for each row and
/// context. While the object is new in a context, it holds the instance, so that what the store does not keep lives until the save.
public final class _ModelObject: NSManagedObject {
  // Guard of the state: as of NSManagedObject, the isolation of the context.
  @exclusivity(unchecked) private var knownModel = MemoryReference()
  @exclusivity(unchecked) private var heldModel: AnyObject?
  /// Not counted: the facts of a class are never freed.
  @exclusivity(unchecked) private unowned(unsafe) var knownInfo: _ModelInfo?
  /// Whether the instance of an existing object is being made. Default values of its properties are not set then.
  @usableFromInline @exclusivity(unchecked) var isBeingMade = false
  /// Whether an initialiser of the instance sets a property just now.
  @exclusivity(unchecked) var isInitialising = false

  deinit { knownModel.refer(to: nil) }

  /// The instance, if there is one.
  var model: (any PersistentModel)? { knownModel.object.map(info.model) }

  /// Makes an instance the object's own, unless it has one.
  func know(_ model: AnyObject) {
    if !knownModel.isTo(model), knownModel.object == nil { knownModel.refer(to: model) }
  }

  /// The facts of the instance's class.
  var info: _ModelInfo {
    if let knownInfo { return knownInfo }
    let found = PreparedSchema.info(of: entity)
    knownInfo = found
    return found
  }

  /// The instance; made if there is none.
  func instance() -> any PersistentModel { info.model(_instance()) }

  /// The instance; made if there is none.
  @usableFromInline func _instance() -> AnyObject {
    knownModel.object ?? makeInstance(info, in: modelContext)
  }

  /// The same for an object of a fetch, of which what all its objects share is known.
  func instance(_ info: _ModelInfo, in context: ModelContext) -> AnyObject {
    knownModel.object ?? makeInstance(info, in: context)
  }

  private func makeInstance(_ info: _ModelInfo, in context: ModelContext?) -> AnyObject {
    knownInfo = info
    let made = info.makeInstance(of: self, in: context)
    knownModel.refer(to: made)
    if isInserted, managedObjectContext != nil { heldModel = made }
    return made
  }

  var modelContext: ModelContext? { (managedObjectContext as? ModelObjectContext)?.modelContext }

  var objectContext: ModelObjectContext? { managedObjectContext as? ModelObjectContext }

  /// Whether the object holds its instance until the save.
  var holdsModel: Bool { heldModel != nil }

  /// Holds the instance of a new object until the save.
  func holdModel() {
    if !isInitialising, isInserted, heldModel == nil { heldModel = knownModel.object }
  }

  func letModelGo() { heldModel = nil }

  /// Fetched objects are copies of the first one.
  public override class var __cdPlainClass: NSManagedObject.Type? { _ModelObject.self }

  /// Holds the context of an object that answers a reader elsewhere, until the reader lets the object go.
  func keep(_ context: ModelContext) { heldModel = context }

  public override func awakeFromInsert() { holdModel() }

  public override func didSave() { heldModel = nil }

  @_spi(CDE) public override func _cdStandIn(for id: NSManagedObjectID) -> NSManagedObject? {
    OutsideUse.report(
      "read", id.entity.name ?? "",
      "The read was answered with what is stored, without unsaved changes. Read it on the actor of its context, or pass its "
        + "persistentModelID and fetch it in a context of your own.")
    return OutsideUse.stand(for: self, id)
  }

  @_spi(CDE) public override func _cdRefusedWrite(to id: NSManagedObjectID) {
    OutsideUse.report(
      "changed", id.entity.name ?? "",
      "The change was refused, and the model is as it was. Change it on the actor of its context, or pass its persistentModelID "
        + "and change it in a context of your own.")
  }

  @_spi(CDE) public override func _cdReplaced(by survivor: NSManagedObject) {
    heldModel = nil
    // The row of another class in the hierarchy keeps its own instance.
    guard let model, let survivor = survivor as? _ModelObject, survivor.info === info else { return }
    survivor.know(model)
    model.take(survivor)
  }
}

extension _ModelObject: CDEBareWhenMade {}

extension _ModelObject: CDEntityPropertyNaming {
  /// The properties of the class of an entity, by ordinal.
  public static func propertyNames(of entity: NSEntityDescription) -> [String]? {
    PreparedSchema.info(of: entity).names
  }
}

extension _ModelObject: CDEObservationInvalidationDispatching {
  public static func __cdObservationSwiftPaths(for fieldSet: CDEObservationFieldSet) -> [String] { [] }

  public func __cdObservationInvalidate(fieldSet: CDEObservationFieldSet) {
    guard let registrar = _cdExistingRegistrar(), let model else { return }
    for ordinal in fieldSet { info.wake(ordinal.rawValue, model, registrar) }
  }

  public func __cdObservationInvalidateAllObservableKeyPaths() {
    guard let registrar = _cdExistingRegistrar(), let model else { return }
    for ordinal in info.names.indices { info.wake(ordinal, model, registrar) }
  }

  /// Wakes the readers of one property.
  func wakeReaders(ofOrdinal ordinal: Int) {
    guard let registrar = _cdExistingRegistrar(), let model else { return }
    info.wake(ordinal, model, registrar)
  }
}

extension PersistentModel {
  /// Makes the instance one of another object: of the row that has its unique value.
  fileprivate func take(_ object: _ModelObject) {
    persistentBackingData = DefaultBackingData(_$object: object)
  }
}

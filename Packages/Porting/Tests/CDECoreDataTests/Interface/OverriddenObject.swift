import CDECoreData
import Testing

/// An object that notes which of its members are called.
final class OverriddenObject: NSManagedObject {
  var calls: [String] = []

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
  }

  override var objectID: NSManagedObjectID { super.objectID }
  override var managedObjectContext: NSManagedObjectContext? { super.managedObjectContext }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    calls.append("awakeFromInsert")
  }

  override func awakeFromFetch() {
    super.awakeFromFetch()
    calls.append("awakeFromFetch")
  }

  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    super.awake(fromSnapshotEvents: flags)
    calls.append("awakeFromSnapshotEvents")
  }

  override func prepareForDeletion() {
    super.prepareForDeletion()
    calls.append("prepareForDeletion")
  }

  override func willSave() {
    super.willSave()
    calls.append("willSave")
  }

  override func didSave() {
    super.didSave()
    calls.append("didSave")
  }

  override func willTurnIntoFault() {
    super.willTurnIntoFault()
    calls.append("willTurnIntoFault")
  }

  override func didTurnIntoFault() {
    super.didTurnIntoFault()
    calls.append("didTurnIntoFault")
  }

  override func validateForInsert() throws {
    try super.validateForInsert()
    calls.append("validateForInsert")
  }

  override func validateForUpdate() throws {
    try super.validateForUpdate()
    calls.append("validateForUpdate")
  }

  override func validateForDelete() throws {
    try super.validateForDelete()
    calls.append("validateForDelete")
  }

  override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String)
    throws
  {
    try super.validateValue(value, forKey: key)
  }

  override func value(forKey key: String) -> Any? { super.value(forKey: key) }
  override func setValue(_ value: Any?, forKey key: String) { super.setValue(value, forKey: key) }
  override func value(forKeyPath keyPath: String) -> Any? { super.value(forKeyPath: keyPath) }
  override func setValue(_ value: Any?, forKeyPath keyPath: String) {
    super.setValue(value, forKeyPath: keyPath)
  }
  override func value(forUndefinedKey key: String) -> Any? { key.uppercased() }
  override func setValue(_ value: Any?, forUndefinedKey key: String) { calls.append("undefined \(key)") }
  override func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    super.dictionaryWithValues(forKeys: keys)
  }
  override func setValuesForKeys(_ keyedValues: [String: Any]) { super.setValuesForKeys(keyedValues) }
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    key == "other" ? ["title"] : super.keyPathsForValuesAffectingValue(forKey: key)
  }
  override func primitiveValue(forKey key: String) -> Any? { super.primitiveValue(forKey: key) }
  override func setPrimitiveValue(_ value: Any?, forKey key: String) {
    super.setPrimitiveValue(value, forKey: key)
  }
  override func willAccessValue(forKey key: String?) { super.willAccessValue(forKey: key) }
  override func didAccessValue(forKey key: String?) { super.didAccessValue(forKey: key) }
  override func willChangeValue(forKey key: String) { super.willChangeValue(forKey: key) }
  override func didChangeValue(forKey key: String) { super.didChangeValue(forKey: key) }
}

@Suite("An object whose members are overridden")
struct OverriddenObjectTests {
  @Test("A context calls what a class overrides")
  func overriding() throws {
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    let entity = NSEntityDescription()
    entity.name = "OverriddenObject"
    entity.managedObjectClassName = NSStringFromClass(OverriddenObject.self)
    entity.properties = [title]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let object = OverriddenObject(entity: entity, insertInto: context)
      try context.save()
      #expect(object.calls == ["awakeFromInsert", "willSave", "validateForInsert", "didSave"])
      object.calls = []
      object.setValue("B", forKey: "title")
      try context.save()
      #expect(object.calls == ["willSave", "validateForUpdate", "didSave"])
      object.calls = []
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "title") as? String == "B")
      #expect(object.calls == ["willTurnIntoFault", "didTurnIntoFault", "awakeFromFetch"])
      object.calls = []
      #expect(object.value(forKey: "other") as? String == "OTHER")
      object.setValue(1, forKey: "other")
      #expect(type(of: object).keyPathsForValuesAffectingValue(forKey: "other") == ["title"])
      context.delete(object)
      try context.save()
      #expect(object.calls.prefix(3) == ["undefined other", "prepareForDeletion", "willSave"])
      #expect(object.calls.contains("validateForDelete"))
    }
  }
}

internal import CDEStore

/// The objects of one context that batches changed, except those named by the batches' IDs.
struct BatchEffects {
  private(set) var updated: [NSManagedObject] = []
  private(set) var deleted: [NSManagedObject] = []
  private(set) var touched: [ObjectChange] = []
  /// The properties that changed in updated objects, as far as the batches report them.
  private(set) var properties: [ObjectIdentifier: PropertySet] = [:]
  /// The number of batches that changed each object's own row.
  private(set) var batches: [ObjectIdentifier: Int] = [:]

  init(of ids: [NSManagedObjectID], in context: NSManagedObjectContext) {
    let registry = context.registry!
    var unknown: Set<ObjectIdentifier> = []
    var origins: [ObjectIdentifier: BatchOrigin] = [:]
    for id in ids {
      // Slots are numbered by the batch's own model.
      let origin = id.binding.model === registry.model ? id.origin : nil
      if let origin { origins[ObjectIdentifier(origin)] = origin }
      guard let binding = registry.model.entity(named: id.binding.name),
        let object = registry.object(root: binding.root, key: id.key)
      else { continue }
      if let slots = origin?.properties[id.binding.index] {
        properties[ObjectIdentifier(object), default: []].formUnion(slots)
        batches[ObjectIdentifier(object), default: 0] += 1
      } else {
        unknown.insert(ObjectIdentifier(object))
      }
    }
    for origin in origins.values { add(origin, registry) }
    for id in unknown { properties[id] = nil }
  }

  private mutating func add(_ origin: BatchOrigin, _ registry: ObjectRegistry) {
    for change in origin.consequences {
      guard let object = registry.object(root: registry.model.entities[change.entity].root, key: change.key)
      else { continue }
      if change.kind == .deleted {
        deleted.append(object)
      } else {
        updated.append(object)
        properties[ObjectIdentifier(object), default: []].formUnion(change.properties)
      }
    }
    for touch in origin.touched {
      let binding = registry.model.entities[touch.entity]
      guard let owner = registry.object(root: binding.root, key: touch.key),
        let slot = owner._binding.layout.slot(named: binding.properties[touch.slot].name)
      else { continue }
      touched.append(ObjectChange(object: owner, kind: .touched, properties: [slot]))
    }
  }
}

@_spi(CDE) internal import CDEPredicates
@_spi(CDE) internal import CDEStore
internal import Foundation

/// What a request says about one object: whether it belongs to the result, where, and in which section.
///
/// The answers are those of a fetch. Values are read from the objects, with unsaved changes.
struct FetchRules {
  let plan: FetchPlan
  /// Which changes of other objects concern the result.
  let reach: FetchReach
  private let query: StoreQuery
  private let entities: Range<EntityIndex>
  private let sectionKeyPath: String?
  private let evaluator: FilterEvaluator<ObjectRow>

  init(_ plan: FetchPlan, sectionKeyPath: String?) throws {
    self.plan = plan
    self.sectionKeyPath = sectionKeyPath
    let schema = plan.binding.model.schema
    evaluator = FilterEvaluator(schema)
    entities = plan.entities
    do {
      query = try plan.query(namingUnsaved: true)
    } catch let error as any CDEError where error is PredicateTreeError {
      throw ManagedObjectError(
        .predicate, "The fetch of \(plan.binding.name) can't be used: \(error.message)", cause: error,
        entity: plan.binding.name)
    }
    var reach = FetchReach(plan.binding)
    reach.add(query)
    if let sectionKeyPath { reach.add(keyPath: sectionKeyPath, plan.binding) }
    self.reach = reach
  }

  var isSectioned: Bool { sectionKeyPath != nil }

  /// Whether the fetch can return objects of an entity.
  func covers(_ entity: EntityIndex) -> Bool { entities.contains(entity) }

  /// Whether an object of the context belongs to the result. Reads the row of a fault.
  func contain(_ object: NSManagedObject, of context: NSManagedObjectContext) throws -> Bool {
    guard covers(object._binding.index), object._registry === context.registry, !object.isMarkedDeleted
    else { return false }
    if object.isFault, object.isStored { context.fire(object) }
    if object.isGone { return false }
    return try evaluator.holds(query.filter, for: ObjectRow(object: object), of: query.entity)
  }

  /// The values that decide about the object's place.
  func keys(of object: NSManagedObject) throws -> [StoreValue] {
    try evaluator.sortKeys(query.sort, for: ObjectRow(object: object), of: query.entity)
  }

  func precede(_ left: [StoreValue], _ right: [StoreValue]) -> Bool {
    ValueOrder.precedes(left, right, in: query.sort)
  }

  func areEqual(_ left: [StoreValue], _ right: [StoreValue]) -> Bool {
    !precede(left, right) && !precede(right, left)
  }

  /// The name of the object's section: text as it is, a number as its digits, other values by their description; empty
  /// for nil.
  func sectionName(of object: NSManagedObject) -> String {
    guard let sectionKeyPath else { return "" }
    let value =
      sectionKeyPath.contains(".")
      ? object.value(forKeyPath: sectionKeyPath) : object.value(forKey: sectionKeyPath)
    switch _PropertyValue.unwrap(value) {
    case nil, is NSNull: return ""
    case let text as String: return text
    case let truth as Bool where !(value is NSNumber): return truth ? "1" : "0"
    case let number as NSNumber: return number.stringValue
    case let value?: return "\(value)"
    }
  }
}

/// Which objects a fetch reads besides the fetched ones.
struct FetchReach {
  /// The entities whose objects the fetch reads along relationships, sub-entities included.
  private(set) var related: Set<EntityIndex> = []
  /// Whether the fetch reads members of to-many relationships. Another writer can change them without changing the owner's
  /// row.
  private(set) var readsMembers = false
  /// Whether the fetch reads derived attributes, which a save changes after it has announced all changes.
  private(set) var readsDerived = false
  private let model: ModelBinding
  /// The entities of the fetched row and of the elements of the enclosing conditions.
  private var scopes: [EntityIndex]

  init(_ binding: EntityBinding) {
    model = binding.model
    scopes = [binding.index]
  }

  mutating func add(_ query: StoreQuery) {
    read(.filter(query.filter))
    for term in query.sort { read(.expression(term.expression)) }
  }

  /// Adds a path of names that key-value coding follows. Names that are no properties are the class's own matter.
  mutating func add(keyPath: String, _ binding: EntityBinding) {
    var binding = binding
    for name in keyPath.split(separator: ".") {
      guard let info = binding.property(String(name)) else { return }
      if info.derivation != nil { readsDerived = true }
      guard info.isRelationship else { return }
      if info.isToMany { readsMembers = true }
      related.formUnion(info.destinations)
      binding = model.entities[info.destination]
    }
  }

  private mutating func read(_ part: QueryPart) {
    switch part {
    case .filter(.entity(let path, _)), .expression(.path(let path)), .expression(.count(let path)),
      .expression(.aggregate(_, let path)):
      _ = read(path)
    case .filter(.any(let path, let condition)), .expression(.countWhere(let path, let condition)):
      scopes.append(read(path))
      read(.filter(condition))
      scopes.removeLast()
    default: for inner in part.parts { read(inner) }
    }
  }

  /// - Returns: the entity that the path leads to.
  private mutating func read(_ path: StorePath) -> EntityIndex {
    var entity = scopes[path.scope]
    for slot in path.hops {
      if let cast = slot.castEntity {
        entity = cast
        continue
      }
      let info = model.entities[entity].properties[slot]
      if info.isToMany { readsMembers = true }
      related.formUnion(info.destinations)
      entity = info.destination
    }
    if case .property(let slot, _) = path.end, model.entities[entity].properties[slot].derivation != nil {
      readsDerived = true
    }
    return entity
  }
}

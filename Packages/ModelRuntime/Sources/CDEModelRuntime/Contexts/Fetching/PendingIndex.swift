internal import CDEStore

/// Finds the unsaved objects of a context by the value of an attribute, so that a fetch with such a condition does not look at all of
/// them. An import that looks for each object before it makes it would otherwise take a time that grows with the square of their number.
///
/// Only candidates are found. The fetch evaluates the whole condition for each of them.
///
/// States of a changed object: not listed yet -> indexed (the flag `indexed` is set) -> written (the flag is cleared, and the object
/// waits in ``written``) -> indexed again. The next look-up indexes objects of the first and of the third kind.
///
/// Belongs to one context, and is used on its executor. The context drops it together with its changes.
final class PendingIndex {
  // Guard: the executor of the context. No access runs other code before it ends.

  /// With fewer changes, a look at all of them takes less time.
  static let threshold = 32

  struct Column: Hashable {
    /// The entity that declares the attribute.
    var entity: EntityIndex
    var name: String
  }

  @exclusivity(unchecked) private var columns: [Column: [StoreValue: [NSManagedObject]]] = [:]
  /// How many of the context's changed objects were indexed.
  @exclusivity(unchecked) private var scanned = 0
  /// The order of the objects' first changes.
  @exclusivity(unchecked) private var order: [ObjectIdentifier: Int] = [:]
  @exclusivity(unchecked) private var written: [NSManagedObject] = []
  /// Objects whose values can't be read without a query, which are always candidates.
  @exclusivity(unchecked) private var unread: [NSManagedObject] = []
  /// The entries of all columns. Each write after a look-up adds some.
  @exclusivity(unchecked) private var entries = 0

  /// Whether there are so many entries of former values that a new index takes less space.
  var isWorn: Bool { entries > 4 * columns.count * (scanned + 1_024) }

  func noteWritten(_ object: NSManagedObject) { written.append(object) }

  /// Notes that an object leaves the context's list of changed objects.
  func noteRemoved(at index: Int) {
    if index < scanned { scanned -= 1 }
  }

  /// The objects that may meet a condition, in the order of their first change.
  func candidates(_ condition: PendingCondition, among changed: [NSManagedObject]) -> [NSManagedObject] {
    index(changed)
    if columns[condition.column] == nil {
      columns[condition.column] = [:]
      changed[...].forEachBorrowed { add($0, to: condition.column) }
    }
    var seen: Set<ObjectIdentifier> = []
    var found: [NSManagedObject] = []
    for value in condition.values {
      for object in columns[condition.column]?[value] ?? []
      where seen.insert(ObjectIdentifier(object)).inserted {
        found.append(object)
      }
    }
    for object in unread where seen.insert(ObjectIdentifier(object)).inserted { found.append(object) }
    if found.count > 1 { found.sort { order[ObjectIdentifier($0)] ?? 0 < order[ObjectIdentifier($1)] ?? 0 } }
    return found
  }

  private func index(_ changed: [NSManagedObject]) {
    let known = Array(columns.keys)
    func add(_ object: NSManagedObject) {
      if object.isMarkedDeleted || object.isFault {
        unread.append(object)
      } else if object.enterIndex() {
        for column in known { self.add(object, to: column) }
      }
    }
    for object in changed[min(scanned, changed.count)...] {
      order[ObjectIdentifier(object)] = order.count
      add(object)
    }
    scanned = changed.count
    if written.isEmpty { return }
    let again = written
    written = []
    for object in again { add(object) }
  }

  private func add(_ object: NSManagedObject, to column: Column) {
    guard !object.isDeletedOrGone, !object.isFault,
      let value = object.withBinding({ binding -> StoreValue? in
        guard let slot = binding.layout.slot(named: column.name),
          binding.layout.properties[slot].declaringEntity == column.entity
        else { return nil }
        return object.attributeValue(binding.properties[slot]).stored
      }), value != .null
    else { return }
    columns[column]?[value, default: []].append(object)
    entries += 1
  }
}

/// The part of a fetch's condition that a ``PendingIndex`` can answer: an attribute of the fetched object equals one of some values.
struct PendingCondition {
  var column: PendingIndex.Column
  var values: [StoreValue]

  /// The first such part of a conjunction; nil if there is none.
  init?(_ filter: StoreFilter, of entity: ResolvedSchema.Entity) {
    switch filter {
    case .and(let parts):
      for part in parts {
        if let found = PendingCondition(part, of: entity) {
          self = found
          return
        }
      }
      return nil
    case .comparison(.path(let path), .equal, .value(let value), []),
      .comparison(.value(let value), .equal, .path(let path), []):
      self.init(path, [value], of: entity)
    case .comparison(.path(let path), .in, .list(let list), []):
      var values: [StoreValue] = []
      for element in list {
        guard case .value(let value) = element else { return nil }
        values.append(value)
      }
      self.init(path, values, of: entity)
    default: return nil
    }
  }

  private init?(_ path: StorePath, _ values: [StoreValue], of entity: ResolvedSchema.Entity) {
    guard path.scope == 0, path.hops.isEmpty, case .property(let slot, 0) = path.end else { return nil }
    let property = entity.layout.properties[slot]
    guard case .attribute(let attribute) = property.kind else { return nil }
    var keys: [StoreValue] = []
    for value in values {
      guard let key = Self.key(value, attribute.type) else { return nil }
      keys.append(key)
    }
    self.values = keys
    column = PendingIndex.Column(entity: property.declaringEntity, name: property.name)
  }

  /// A constant in the form of the attribute's values that are equal to it; nil if there may be several forms.
  private static func key(_ value: StoreValue, _ type: StoreAttributeType) -> StoreValue? {
    switch (type, value) {
    case (.string, .text), (.uri, .text), (.integer16, .integer), (.integer32, .integer),
      (.integer64, .integer),
      (.boolean, .integer):
      return value
    case (.double, .real(let number)), (.float, .real(let number)), (.date, .real(let number)):
      return number.isNaN ? nil : value
    case (.double, .integer(let number)), (.float, .integer(let number)), (.date, .integer(let number)):
      return Double(exactly: number).map { .real($0) }
    case (.uuid, .blob): return value
    default: return nil
    }
  }
}

extension NSManagedObjectContext {
  /// The unsaved objects that may meet a fetch's condition; nil if all have to be looked at.
  func pendingCandidates(_ query: StoreQuery) -> [NSManagedObject]? {
    guard changed.count >= PendingIndex.threshold,
      let condition = PendingCondition(query.filter, of: registry.model.schema.entities[query.entity])
    else { return nil }
    if pendingIndex?.isWorn == true { dropPendingIndex() }
    let index = pendingIndex ?? PendingIndex()
    pendingIndex = index
    return index.candidates(condition, among: changed)
  }

  func dropPendingIndex() {
    if pendingIndex == nil { return }
    pendingIndex = nil
    for object in changed { object.leaveIndex() }
  }

  func noteWritten(_ object: NSManagedObject) { pendingIndex?.noteWritten(object) }
}

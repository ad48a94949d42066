import CDEManagedModel
import CDEModelRuntime
import Foundation

/// Compares two stores object by object.
///
/// Without a key, objects are the same if their IDs end alike, as in copies of one store. With a key, objects of an entity
/// with that attribute are the same if they have the same value.
public struct StoreDifference {
  let left: OpenedStore
  let right: OpenedStore
  /// Attributes by which objects are known: `isbn` for all entities that have it, `Book.isbn` for one.
  public var keys: [String] = []
  /// The greatest number of differences to list; all are counted.
  public var limit = 1000

  public init(_ left: OpenedStore, _ right: OpenedStore) {
    self.left = left
    self.right = right
  }

  /// The answer of `cde store diff`.
  public func answer() throws -> Answer {
    let sides = [try Side(left, keys), try Side(right, keys)]
    var result = Result(limit: limit)
    let names = Set(left.concreteEntities + right.concreteEntities).compactMap(\.name)
    for name in Set(names).sorted() {
      let entities = [left, right].map { store in store.concreteEntities.first { $0.name == name } }
      let ids = try zip(sides, entities).map { side, entity in
        try entity.map { try side.identified($0) } ?? [:]
      }
      try compare(name, entities, ids, sides, &result)
    }
    let counts = "\(result.added) added, \(result.removed) removed, \(result.changed) changed"
    guard result.total > 0 else {
      return Answer([.text("The stores have the same objects.")], json: .array([]))
    }
    var answer = Answer([.table(result.table)], hasFindings: true)
    answer.note =
      counts + (result.total > result.table.rows.count ? "; the first \(limit) differences are listed." : ".")
    return answer
  }

  private struct Result {
    let limit: Int
    var table = Table([
      .init("change"), .init("object"), .init("name"), .init("property"), .init("left"), .init("right"),
    ])
    var added = 0
    var removed = 0
    var changed = 0
    var total = 0

    mutating func add(
      _ change: String, _ object: String, _ name: String, _ property: Cell = .none, _ left: Cell = .none,
      _ right: Cell = .none
    ) {
      total += 1
      if table.rows.count < limit {
        table.rows.append([Cell(change), Cell(object), Cell(name), property, left, right])
      }
    }
  }

  private func compare(
    _ name: String, _ entities: [NSEntityDescription?], _ ids: [[String: NSManagedObjectID]], _ sides: [Side],
    _ result: inout Result
  ) throws {
    func sorted(_ identities: some Sequence<String>) -> [String] {
      identities.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    }
    for (change, own, other, side) in [
      ("removed", ids[0], ids[1], sides[0]), ("added", ids[1], ids[0], sides[1]),
    ] {
      for part in sorted(own.keys.filter { other[$0] == nil }).chunks(of: 500) {
        if change == "added" { result.added += part.count } else { result.removed += part.count }
        // Objects beyond the limit are counted, not read.
        if result.table.rows.count >= limit {
          result.total += part.count
          continue
        }
        try side.store.read { context in
          let objects = try side.store.objects(part.map { own[$0]! }, in: context)
          for (identity, object) in zip(part, objects) {
            result.add(change, identity, side.store.names.name(of: object))
          }
          try side.store.empty(context)
        }
      }
    }
    guard let first = entities[0], let second = entities[1] else { return }
    let properties = first.comparedProperties.filter { second.propertiesByName[$0.name] != nil }
    for (change, own, other, objects) in [
      ("only left", first, second, ids[0]), ("only right", second, first, ids[1]),
    ]
    where !objects.isEmpty {
      for property in own.comparedProperties where other.propertiesByName[property.name] == nil {
        result.add(change, name, "", Cell(property.name))
      }
    }
    let shared = sorted(ids[0].keys.filter { ids[1][$0] != nil })
    for part in shared.chunks(of: 500) {
      WorkReport.tell(name, part.startIndex, of: shared.count)
      let before = try sides[0].values(part.map { ids[0][$0]! }, properties)
      let after = try sides[1].values(
        part.map { ids[1][$0]! }, properties.compactMap { second.propertiesByName[$0.name] })
      for (position, identity) in part.enumerated() {
        var differs = false
        for (column, property) in properties.enumerated() {
          let (old, new) = (before[position].cells[column], after[position].cells[column])
          if old.json == new.json { continue }
          differs = true
          result.add("changed", identity, after[position].name, Cell(property.name), old, new)
        }
        if differs { result.changed += 1 }
      }
    }
  }

  /// One of the stores, with the identities of its objects.
  private final class Side {
    let store: OpenedStore
    private let keys: [String]
    private var identities: [NSManagedObjectID: String] = [:]

    init(_ store: OpenedStore, _ keys: [String]) throws {
      self.store = store
      self.keys = keys
      let used = store.concreteEntities.filter { key(of: $0) != nil }
      for key in keys
      where !used.contains(where: { self.key(of: $0) == key.split(separator: ".").last.map(String.init) }) {
        throw ToolError(
          "No entity of \(store.place.text) has the attribute \(key). Write --key ATTRIBUTE or --key ENTITY.ATTRIBUTE.",
          .usage)
      }
      for entity in used { _ = try identified(entity) }
    }

    private func key(of entity: NSEntityDescription) -> String? {
      for key in keys {
        let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
        if parts.count == 2, parts[0] != entity.name { continue }
        if entity.attributesByName[parts[parts.count - 1]] != nil { return parts[parts.count - 1] }
      }
      return nil
    }

    func identity(_ id: NSManagedObjectID) -> String { identities[id] ?? ShortID.text(id) }

    /// The IDs of an entity's own objects by their identities.
    func identified(_ entity: NSEntityDescription) throws -> [String: NSManagedObjectID] {
      var result: [String: NSManagedObjectID] = [:]
      guard let key = key(of: entity) else {
        for id in try store.objectIDs(of: entity) { result[ShortID.text(id)] = id }
        return result
      }
      let attribute = entity.attributesByName[key]!
      try store.forEach(entity) { object in
        let cell = ValueText.cell(object.value(forKey: key), attribute)
        // Objects without a value are the same if their IDs are.
        let identity =
          cell.json == .null ? ShortID.text(object.objectID) : "\(entity.name ?? "")[\(cell.text)]"
        if result.updateValue(object.objectID, forKey: identity) != nil {
          throw ToolError(
            "\(identity) is there twice in \(store.place.text), so \(key) is no key. Choose another one.",
            .usage)
        }
        identities[object.objectID] = identity
      }
      return result
    }

    func values(_ ids: [NSManagedObjectID], _ properties: [NSPropertyDescription]) throws -> [(
      name: String, cells: [Cell]
    )] {
      try store.read { context in
        let values = try store.objects(ids, in: context).map { object in
          (name: store.names.name(of: object), cells: properties.map { cell(of: object, $0) })
        }
        try store.empty(context)
        return values
      }
    }

    private func cell(of object: NSManagedObject, _ property: NSPropertyDescription) -> Cell {
      guard let relationship = property as? NSRelationshipDescription else {
        return RowListing.cell(of: object, property, store)
      }
      guard relationship.isToMany else {
        guard let other = object.value(forKey: relationship.name) as? NSManagedObject else { return .none }
        return Cell(identity(other.objectID))
      }
      let members = object.objectIDs(forRelationshipNamed: relationship.name).map(identity)
      let ordered = relationship.isOrdered ? members : members.sorted()
      return Cell(ordered.joined(separator: ", "), .array(ordered.map { .string($0) }))
    }
  }
}

extension NSEntityDescription {
  /// What makes a difference: a to-many relationship with a to-one inverse says nothing more than the inverse.
  var comparedProperties: [NSPropertyDescription] {
    propertiesByName.values.filter { property in
      if property.isTransient || property is NSFetchedPropertyDescription { return false }
      guard let relationship = property as? NSRelationshipDescription, relationship.isToMany else {
        return true
      }
      return relationship.inverseRelationship?.isToMany ?? true
    }.sorted { $0.name < $1.name }
  }
}

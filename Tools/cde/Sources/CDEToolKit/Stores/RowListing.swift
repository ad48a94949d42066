import CDEManagedModel
import CDEModelRuntime
import Foundation

/// Objects as rows of a table.
public struct RowListing: Sendable {
  public var entity: String
  public var predicate: String?
  /// Key paths; a minus before one means descending.
  public var sort: [String] = []
  public var limit = 50
  public var offset = 0
  /// The properties to show; empty for all.
  public var columns: [String] = []

  public init(entity: String) { self.entity = entity }

  /// The answer of `cde store rows`. Related objects stand by their names, to-many relationships by their sizes.
  public func answer(_ store: OpenedStore) throws -> Answer {
    let entity = try store.entity(named: entity)
    let request = try store.request(
      entity, predicate: predicate, sort: sort, limit: limit + 1, offset: offset)
    let shown = try properties(of: entity, store)
    request.relationshipKeyPathsForPrefetching = shown.compactMap {
      ($0 as? NSRelationshipDescription)?.isToMany == false ? $0.name : nil
    }
    return try store.read { context in
      let objects = try context.fetch(request)
      var table = Table([.init(entity.identifierKey)] + shown.map { .init($0.name, isNumber: $0.isNumber) })
      table.rows = objects.prefix(limit).map { object in
        [Cell(ShortID.text(object.objectID))] + shown.map { Self.cell(of: object, $0, store) }
      }
      var answer = Answer([.table(table)])
      if objects.count > limit {
        // The rows alone are the answer for programs.
        answer.json = answer.jsonValue
        answer.note = "More rows follow: --offset \(offset + limit), or --limit for longer pages."
      }
      return answer
    }
  }

  private func properties(of entity: NSEntityDescription, _ store: OpenedStore) throws
    -> [NSPropertyDescription]
  {
    guard !columns.isEmpty else {
      return entity.shownAttributes(store.names) + entity.shownRelationships
    }
    return try columns.map { name in
      guard let property = entity.propertiesByName[name] else {
        let all = entity.propertiesByName.keys.sorted().joined(separator: ", ")
        throw ToolError("\(entity.name ?? "") has no property \(name). It has \(all).", .usage)
      }
      return property
    }
  }

  static func cell(of object: NSManagedObject, _ property: NSPropertyDescription, _ store: OpenedStore)
    -> Cell
  {
    switch property {
    case let attribute as NSAttributeDescription:
      // A row of a parent entity may be of a child, which has the property too.
      return ValueText.cell(object.value(forKey: attribute.name), attribute)
    case let relationship as NSRelationshipDescription where !relationship.isToMany:
      guard let other = object.value(forKey: relationship.name) as? NSManagedObject else { return .none }
      return reference(to: other, store)
    case let relationship as NSRelationshipDescription:
      let count = object.objectIDs(forRelationshipNamed: relationship.name).count
      return Cell(count)
    default: return .none
    }
  }

  static func reference(to object: NSManagedObject, _ store: OpenedStore) -> Cell {
    let id = ShortID.text(object.objectID)
    let name = store.names.name(of: object)
    return Cell(name, .object([.init("id", .string(id)), .init("name", .string(name))]))
  }
}

extension NSPropertyDescription {
  /// Whether the values of the column are numbers.
  var isNumber: Bool {
    if let relationship = self as? NSRelationshipDescription { return relationship.isToMany }
    guard let attribute = self as? NSAttributeDescription else { return false }
    return switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .decimalAttributeType:
      true
    default: false
    }
  }
}

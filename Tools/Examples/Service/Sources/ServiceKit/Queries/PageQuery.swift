import CoreDataEvolution
import Hummingbird

/// A request for one page of a resource.
///
/// A page begins after the last object of the page before it, by its values and not by its number: whatever is added or removed meanwhile,
/// no object comes twice, and none is left out. The store finds the place by an index instead of by counting.
struct PageQuery<Entity: Resource>: @unchecked Sendable {
  // Guard: immutable; predicates are values of this program that no other code changes.

  static var largestLimit: Int { 200 }
  static var largestFilterCount: Int { 16 }

  private(set) var limit = 50
  private(set) var filters: [NSPredicate] = []
  private(set) var sort: Field<Entity>
  private(set) var isDescending = false
  private(set) var after: Cursor?
  /// The query of the first page: what the link to the next one repeats.
  private var repeated: [(name: String, value: String)] = []

  /// The last object of a page.
  struct Cursor: Codable, Equatable {
    var text: String?
    var number: Int?
    var key: String
  }

  /// - Throws: a ``Problem`` with status 400 that names what is wrong.
  init(_ query: some Sequence<(key: Substring, value: Substring)>) throws {
    sort = Entity.field(Entity.keyName)!
    var cursor: String?
    for (name, value) in query {
      let (name, value) = (String(name), String(value))
      switch name {
      case "" where value.isEmpty: continue
      case "limit":
        guard let number = Int(value), (1...Self.largestLimit).contains(number) else {
          throw Problem.query("The limit is a number from 1 to \(Self.largestLimit).")
        }
        limit = number
      case "sort":
        let field = value.hasPrefix("-") ? String(value.dropFirst()) : value
        guard let found = Entity.field(field), found.isSortable else {
          let names = Entity.fields.filter(\.isSortable).map(\.name)
          throw Problem.query("There is no order \(field). These are: \(names.joined(separator: ", ")).")
        }
        (sort, isDescending) = (found, value.hasPrefix("-"))
      case "after":
        cursor = value
        continue
      default:
        filters.append(try Filter(name, value, of: Entity.self).predicate)
        guard filters.count <= Self.largestFilterCount else {
          throw Problem.query("A query has at most \(Self.largestFilterCount) filters.")
        }
      }
      repeated.append((name, value))
    }
    after = try cursor.map { try Self.cursor($0, sort: sort) }
  }

  /// The request for the page and one object more, which tells whether there is a next page.
  var request: NSFetchRequest<Entity> {
    let request = NSFetchRequest<Entity>(entityName: Entity.entityName)
    let predicates = filters + [after.map { place($0) } ?? beginning].compactMap(\.self)
    if predicates.count == 1 {
      request.predicate = predicates[0]
    } else if !predicates.isEmpty {
      request.predicate = TreeCompoundPredicate(type: .and, subpredicates: predicates)
    }
    request.sortDescriptors =
      (sort.name == Entity.keyName ? [] : [NSSortDescriptor(key: sort.name, ascending: !isDescending)])
      + [NSSortDescriptor(key: Entity.keyName, ascending: !isDescending)]
    request.fetchLimit = limit + 1
    request.returnsObjectsAsFaults = false
    request.relationshipKeyPathsForPrefetching = Entity.relationships(isDetail: false)
    return request
  }

  /// The address of the page that follows an object.
  func next(after object: Entity) throws -> String {
    var cursor = Cursor(key: object.resourceKey)
    switch sort.get(object) {
    case .text(let text) where sort.name != Entity.keyName: cursor.text = text
    case .integer(let number): cursor.number = number
    default: break
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(cursor)
    let parts = repeated + [("after", Base64URL.encode(data))]
    let query = parts.map { "\($0.name.escaped)=\($0.value.escaped)" }.joined(separator: "&")
    return "/\(Entity.path)?\(query)"
  }

  /// A condition of the first page in the order of the key, which each object has. A server's index of unique values has nil behind
  /// them, and a sort has it before: only a condition without nil lets the index give the order.
  private var beginning: NSPredicate? {
    sort.name == Entity.keyName ? .make("\(Entity.keyName) != nil") : nil
  }

  /// The condition for what follows a place.
  private func place(_ cursor: Cursor) -> NSPredicate {
    let beyond = isDescending ? "<" : ">"
    let value: Any? = cursor.number ?? cursor.text
    guard let value else { return .make("\(Entity.keyName) \(beyond) %@", cursor.key) }
    return .make(
      "\(sort.name) \(beyond) %@ OR (\(sort.name) == %@ AND \(Entity.keyName) \(beyond) %@)", value, value,
      cursor.key)
  }

  private static func cursor(_ text: String, sort: Field<Entity>) throws -> Cursor {
    guard let data = Base64URL.decode(text), let cursor = try? JSONDecoder().decode(Cursor.self, from: data)
    else { throw Problem.query("The value of after is of no link to a next page.") }
    let isSuitable: Bool
    switch sort.kind {
    case .integer: isSuitable = cursor.number != nil && cursor.text == nil
    default: isSuitable = cursor.number == nil && (cursor.text == nil) == (sort.name == Entity.keyName)
    }
    guard isSuitable else { throw Problem.query("The value of after is of a page with another order.") }
    return cursor
  }
}

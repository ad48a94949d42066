import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

/// A shop's sales, with a property of every kind that dictionaries may have.
struct DictionaryWorld {
  let stack: Stack
  let context: NSManagedObjectContext

  static func makeModel() -> NSManagedObjectModel {
    let spot = NSCompositeAttributeDescription()
    spot.name = "spot"
    spot.elements = [attribute("lat", .doubleAttributeType), attribute("label", .stringAttributeType)]
    let photo = attribute("photo", .binaryDataAttributeType)
    photo.allowsExternalBinaryDataStorage = true
    let lower = NSDerivedAttributeDescription()
    lower.name = "lower"
    lower.attributeType = .stringAttributeType
    lower.derivation = "lowercase:(title)"
    let sale = entity(
      "Sale", nil,
      [
        attribute("title", .stringAttributeType), attribute("count", .integer32AttributeType),
        attribute("big", .integer64AttributeType), attribute("amount", .doubleAttributeType),
        attribute("weight", .floatAttributeType), attribute("price", .decimalAttributeType),
        attribute("flag", .booleanAttributeType), attribute("day", .dateAttributeType),
        attribute("token", .UUIDAttributeType), attribute("link", .URIAttributeType),
        attribute("blob", .binaryDataAttributeType), photo, attribute("meta", .transformableAttributeType),
        attribute("scratch", .stringAttributeType, transient: true), spot, lower,
      ])
    let refund = entity("Refund", nil, [attribute("reason", .stringAttributeType)])
    sale.subentities = [refund]
    let seller = entity(
      "Seller", nil, [attribute("name", .stringAttributeType), attribute("rank", .integer32AttributeType)])
    let tag = entity(
      "Tag", nil, [attribute("name", .stringAttributeType), attribute("score", .integer32AttributeType)])
    connect(.one(sale, "seller"), .many(seller, "sales"))
    connect(.one(sale, "origin"), .many(sale, "followers"))
    connect(.many(sale, "tags"), .many(tag, "sales"))
    connect(.one(seller, "boss"), .many(seller, "team"))
    return model(sale, refund, seller, tag)
  }

  init() throws {
    stack = try Stack(model: Self.makeModel())
    context = stack.context()
  }

  static let day = Date(timeIntervalSinceReferenceDate: 86_400)
  static let token = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!

  /// Four sales of two sellers, and one sale without any value.
  func fill() throws {
    let ann = context.make("Seller", ["name": "Ann", "rank": 1])
    let bob = context.make("Seller", ["name": "Bob", "rank": 2, "boss": ann])
    let tags = (1...3).map { context.make("Tag", ["name": "t\($0)", "score": $0]) }
    let first = context.make(
      "Sale",
      [
        "title": "Apple", "count": 3, "big": Int64.max, "amount": 1.5, "weight": Float(1.1),
        "price": Decimal(string: "0.1")!, "flag": true, "day": Self.day, "token": Self.token,
        "link": URL(string: "https://example.org/a")!, "blob": Data([1, 2]),
        "photo": Data(repeating: 7, count: 300_000), "meta": ["a", "b"] as NSArray,
        "spot": ["lat": 52.5, "label": "here"], "seller": ann,
      ])
    first.mutableSetValue(forKey: "tags").addObjects(from: tags)
    let second = context.make(
      "Sale",
      [
        "title": "Pear", "count": 4, "amount": 2.5, "price": Decimal(string: "0.2")!, "flag": false,
        "seller": bob,
      ])
    second.mutableSetValue(forKey: "tags").add(tags[0])
    second.setValue(first, forKey: "origin")
    context.make("Refund", ["title": "Apple", "count": 5, "amount": 4.0, "seller": bob, "reason": "rotten"])
    context.make("Sale", ["title": "apple", "count": 6, "seller": ann, "flag": true])
    context.make("Sale")
    try context.save()
  }

  func request(_ entity: String = "Sale", fetching properties: [Any]?) -> NSFetchRequest<NSDictionary> {
    let request = NSFetchRequest<NSDictionary>(entityName: entity)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = properties
    return request
  }

  /// The dictionaries as text, keys in order.
  func fetched(_ request: NSFetchRequest<NSDictionary>) throws -> [String] {
    try context.fetch(request).map(Self.text)
  }

  static func text(_ dictionary: NSDictionary) -> String {
    let keys = dictionary.allKeys.compactMap { $0 as? String }.sorted()
    return keys.map { "\($0): \(dictionary[$0].map { "\($0)" } ?? "nil")" }.joined(separator: ", ")
  }
}

/// An expression to fetch, from the text of a format string.
func computed(
  _ name: String, _ format: String, _ type: NSAttributeType = .undefinedAttributeType
) -> NSExpressionDescription {
  let result = NSExpressionDescription()
  result.name = name
  result.expression = TreeExpression(format: format)
  result.expressionResultType = type
  return result
}

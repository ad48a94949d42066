import CDEManagedModel
import CDEModelRuntime
import Foundation

/// An attribute of every type: required, with a default and optional.
@PersistentModel
final class Specimen: NSManagedObject {
  var small: Int16
  var smallOrSeven: Int16 = 7
  var smallOrNil: Int16?
  var medium: Int32
  var mediumOrNil: Int32?
  var large: Int64
  var whole: Int = 3
  var wholeOrNil: Int?
  var real: Double
  var realOrHalf: Double = 0.5
  var realOrNil: Double?
  var short: Float
  var shortOrNil: Float?
  var flag: Bool
  var flagOrNil: Bool?
  var text: String
  var textOrT: String = "t"
  var textOrNil: String?
  var date: Date
  var dateOrNil: Date?
  var data: Data
  var dataOrNil: Data?
  var picture: Data?
  var uuid: UUID
  var uuidOrNil: UUID?
  var link: URL
  var linkOrNil: URL?
  var price: Decimal
  var priceOrNil: Decimal?
  @Attribute(storageMethod: .raw) var status: Status
  @Attribute(storageMethod: .raw) var statusOrDraft: Status = .draft
  @Attribute(storageMethod: .raw) var statusOrNil: Status?
  @Attribute(storageMethod: .raw) var priority: Priority
  @Attribute(storageMethod: .codable) var settings: Settings?
  @Attribute(storageMethod: .transformed(name: "NSSecureUnarchiveFromData")) var keywords: [String]?
  @Attribute(storageMethod: .transformed(name: "NSSecureUnarchiveFromData")) var album: [String]?
  @Attribute(storageMethod: .composition) var place: Place?
  @Relationship(inverse: "specimens", deleteRule: .nullify) var keeper: Curator?
  @Relationship(inverse: "ordered", deleteRule: .nullify) var shelf: Curator?
  @Relationship(inverse: "specimens", deleteRule: .nullify) var labels: Set<Sticker>
  @Relationship(inverse: "show", deleteRule: .nullify) var car: Cart?
}

@PersistentModel
final class Curator: NSManagedObject {
  @Attribute(.unique) var name: String = ""
  @Relationship(inverse: "keeper", deleteRule: .cascade) var specimens: Set<Specimen>
  @Relationship(inverse: "shelf", deleteRule: .nullify) var ordered: [Specimen]
}

@PersistentModel
final class Sticker: NSManagedObject {
  var name: String = "none"
  @Relationship(inverse: "labels", deleteRule: .nullify) var specimens: [Specimen]
}

@PersistentModel
final class Cart: NSManagedObject {
  var seats: Int16
  @Relationship(inverse: "car", deleteRule: .nullify) var show: Set<Specimen>
}

/// A model of the classes above, compositions in columns, and of a tree of entities that refer to each other.
enum ValueModel {
  static func make() throws -> NSManagedObjectModel {
    let whole = try NSManagedObjectModel.makeRuntimeModel(
      Specimen.self, Curator.self, Sticker.self, Cart.self, compositions: .columns)
    let made = whole.copy() as! NSManagedObjectModel
    for name in ["picture", "album"] {
      made.entitiesByName["Specimen"]?.attributesByName[name]?.allowsExternalBinaryDataStorage = true
    }
    let node = entity(
      "Node", nil,
      [attribute("name", .stringAttributeType, optional: false), attribute("weight", .doubleAttributeType)])
    let branch = entity(
      "Branch", nil, [attribute("size", .integer16AttributeType, optional: false, default: 1)])
    let leaf = entity("Leaf", nil, [attribute("color", .stringAttributeType, optional: false)])
    node.subentities = [branch, leaf]
    connect(.one(node, "parent"), .many(branch, "children", rule: .cascadeDeleteRule))
    connect(.one(node, "place"), .many(branch, "row", ordered: true))
    connect(.many(node, "friends"), .many(node, "friendOf", ordered: true))
    connect(.one(leaf, "twin"), .one(leaf, "twinOf"))
    point(.many(branch, "points"), to: leaf)
    made.entities += [node, branch, leaf]
    return made
  }

  /// Values of every property, none of them zero.
  static func fill(_ specimen: Specimen, _ number: Int) {
    specimen.small = Int16(number)
    specimen.smallOrNil = -5
    (specimen.medium, specimen.mediumOrNil) = (70_000, 1)
    (specimen.large, specimen.whole, specimen.wholeOrNil) = (1 << 40, 9, 10)
    (specimen.real, specimen.realOrNil) = (1.5, -2.25)
    (specimen.short, specimen.shortOrNil) = (0.5, 3)
    (specimen.flag, specimen.flagOrNil) = (true, false)
    (specimen.text, specimen.textOrNil) = ("text \(number)", "é")
    (specimen.date, specimen.dateOrNil) = (Date(timeIntervalSinceReferenceDate: 12.5), .distantPast)
    (specimen.data, specimen.dataOrNil) = (Data([1, 2, 3]), Data())
    specimen.picture = Data(repeating: UInt8(number & 255), count: number % 3 == 0 ? 200_000 : 20)
    (specimen.uuid, specimen.uuidOrNil) = (UUID(), UUID())
    (specimen.link, specimen.linkOrNil) = (URL(string: "https://example.org/\(number)")!, URL(string: "a:b")!)
    (specimen.price, specimen.priceOrNil) = (Decimal(string: "1.25")!, Decimal(12))
    (specimen.status, specimen.statusOrNil, specimen.priority) = (.review, .published, .high)
    specimen.settings = Settings(theme: "dark", sizes: [1, 2])
    (specimen.keywords, specimen.album) = (["a", "b"], ["c"])
    specimen.place = Place(latitude: 1, longitude: 2, name: "here")
  }

  /// A few objects of each entity, related in every way.
  static func fill(_ context: NSManagedObjectContext) throws {
    let keepers = ["Ann", "Bob"].map { name in
      let keeper = Curator(context: context)
      keeper.name = name
      return keeper
    }
    let labels = (0..<3).map { _ in Sticker(context: context) }
    let car = Cart(context: context)
    car.seats = 4
    for number in 1...6 {
      let specimen = Specimen(context: context)
      fill(specimen, number)
      specimen.keeper = keepers[number % 2]
      specimen.shelf = keepers[number % 2]
      specimen.setValue(NSSet(array: [labels[number % 3], labels[(number + 1) % 3]]), forKey: "labels")
      specimen.car = car
    }
    let root = context.make("Branch", ["name": "root"])
    var last: NSManagedObject?
    for number in 0..<4 {
      let node = context.make(
        number % 2 == 0 ? "Leaf" : "Branch", ["name": "\(number)", "parent": root, "place": root])
      if number % 2 == 0 {
        node.setValue("green", forKey: "color")
        root.mutableSetValue(forKey: "points").add(node)
        if let last { node.setValue(last, forKey: "twin") }
        last = node
      }
      node.mutableSetValue(forKey: "friends").add(root)
    }
    try context.save()
  }

  /// Reads every property by the getters that its class has.
  static func read(_ specimen: Specimen) -> Int {
    var sum = Int(specimen.small) &+ Int(specimen.smallOrSeven) &+ Int(specimen.smallOrNil ?? 0)
    sum = sum &+ Int(specimen.medium) &+ Int(specimen.mediumOrNil ?? 0) &+ Int(specimen.large)
    sum = sum &+ specimen.whole &+ (specimen.wholeOrNil ?? 0)
    let reals = [specimen.real, specimen.realOrHalf, specimen.realOrNil ?? 0, Double(specimen.short)]
    sum = sum &+ reals.count { $0 > 1 } &+ (specimen.shortOrNil == 3 ? 1 : 0)
    sum = sum &+ (specimen.flag ? 1 : 0) &+ (specimen.flagOrNil == true ? 1 : 0)
    sum = sum &+ specimen.text.count &+ specimen.textOrT.count &+ (specimen.textOrNil?.count ?? 0)
    sum = sum &+ (specimen.date < .now ? 1 : 0) &+ (specimen.dateOrNil == nil ? 1 : 0)
    sum = sum &+ specimen.data.count &+ (specimen.dataOrNil?.count ?? 0) &+ (specimen.picture?.count ?? 0)
    sum = sum &+ specimen.uuid.uuidString.count &+ (specimen.uuidOrNil == nil ? 1 : 0)
    sum = sum &+ specimen.link.absoluteString.count &+ (specimen.linkOrNil?.absoluteString.count ?? 0)
    sum = sum &+ (specimen.price > 1 ? 1 : 0) &+ (specimen.priceOrNil == nil ? 1 : 0)
    sum = sum &+ specimen.status.rawValue.count &+ specimen.statusOrDraft.rawValue.count
    sum = sum &+ (specimen.statusOrNil?.rawValue.count ?? 0) &+ Int(specimen.priority.rawValue)
    sum = sum &+ (specimen.settings?.theme.count ?? 0)
    sum = sum &+ (specimen.keywords?.count ?? 0) &+ (specimen.album?.count ?? 0)
    sum = sum &+ (specimen.place?.name?.count ?? 0)
    sum = sum &+ (specimen.keeper?.name.count ?? 0) &+ (specimen.shelf?.ordered.count ?? 0)
    sum = sum &+ specimen.labels.reduce(0) { $0 &+ $1.name.count &+ $1.specimens.count }
    return sum &+ Int(specimen.car?.seats ?? 0)
  }
}

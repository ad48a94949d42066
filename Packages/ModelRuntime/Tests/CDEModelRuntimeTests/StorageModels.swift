import CDEManagedModel
import CDEModelRuntime
import Foundation

enum Status: String, Codable { case draft, review, published }
enum Priority: Int16 { case low = 1, high = 9 }
enum Level: Int { case one = 1, two }

struct Settings: Codable, Equatable {
  var theme = "light"
  var sizes: [Int] = []
}

struct Amounts: Codable, Equatable {
  var largest: UInt64
  var least: Int64
  var price: Decimal
  var share: Double
  var tiny: Double
  var huge: Double
}

@PersistentModel
final class Ledger: NSManagedObject {
  @Attribute(storageMethod: .codable) var amounts: Amounts?
}

@Composition
struct Place: Equatable {
  var latitude: Double
  @CompositionField(persistentName: "lng") var longitude: Double
  var name: String?
}

/// A field of every type.
@Composition
struct Everything: Equatable {
  var string: String
  var bool: Bool
  var int: Int
  var int16: Int16
  var int32: Int32
  var int64: Int64
  var float: Float
  var double: Double
  var decimal: Decimal
  var date: Date
  var data: Data
  var uuid: UUID
  var url: URL
  var nothing: Int?
}

/// Turns words into data by joining them.
final class WordsTransformer: ValueTransformer, CDRegisteredValueTransformer {
  static let transformerName = NSValueTransformerName("Words")

  static func register() {
    ValueTransformer.setValueTransformer(WordsTransformer(), forName: transformerName)
  }

  override func transformedValue(_ value: Any?) -> Any? {
    (value as? [String]).map { Data($0.joined(separator: "\n").utf8) }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init) }
  }
}

@PersistentModel
final class Article: NSManagedObject {
  @Attribute(.unique) var slug: String = ""
  @Attribute(persistentName: "name") var title: String = ""
  @Attribute(persistentName: "status_raw", storageMethod: .raw) var status: Status = .draft
  @Attribute(storageMethod: .raw) var priority: Priority?
  @Attribute(storageMethod: .raw, decodeFailurePolicy: .fallbackToDefaultValue) var level: Level? = .two
  @Attribute(storageMethod: .codable) var settings: Settings?
  @Attribute(storageMethod: .codable) var scores: [String: Int]? = nil
  @Attribute(storageMethod: .transformed(WordsTransformer.self)) var words: [String]?
  @Attribute(storageMethod: .transformed(name: "NSSecureUnarchiveFromData")) var keywords: [String]?
  @Attribute(storageMethod: .composition) var place: Place?
  @Attribute(persistentName: "all", storageMethod: .composition) var everything: Everything?
  @Attribute(.transient) var scratch: String?
  @Ignore var cache: [Int] = []
  @Relationship(inverse: "articles", deleteRule: .nullify) var author: Author?
  @Relationship(persistentName: "labels", inverse: "articles", deleteRule: .nullify) var topics: [Topic]
}

@PersistentModel
final class Author: NSManagedObject {
  var name: String = ""
  @Relationship(inverse: "author", deleteRule: .cascade) var articles: Set<Article>
}

@PersistentModel
final class Topic: NSManagedObject {
  var name: String = ""
  @Relationship(inverse: "labels", deleteRule: .nullify) var articles: Set<Article>
}

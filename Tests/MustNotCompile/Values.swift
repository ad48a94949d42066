import CDEManagedModel
import CDEModelRuntime
import Foundation

enum Status: String { case open, done }

// Types that attributes do not have: what to declare instead, and nothing of relationships.
@PersistentModel
final class Item: NSManagedObject {
  var a: Status = .open  // error: an enumeration with raw values `@Attribute(storageMethod: .raw)`
  var b: UInt8 = 0  // error: attributes are signed integers of 16, 32 or 64 bits. Declare it as `Int16`
  var c: CGFloat = 0  // error: it is a Double. Declare it as `Double`
  var d: NSDecimalNumber?  // error: attributes have Swift's types. Declare it as `Decimal?`
  @Attribute var e: UInt16?  // error: Declare it as `Int32?`
  var f: [String: Int]?  // error: a Codable type `@Attribute(storageMethod: .codable)`
  var g: Set<Tag>?  // error: Declare it as `Set<Tag>`; it must declare @Relationship
}

@PersistentModel
final class Tag: NSManagedObject {
  var word: String = ""
}

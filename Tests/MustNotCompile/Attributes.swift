import CDEManagedModel
import CDEModelRuntime
import Foundation

final class Plain: ValueTransformer {}
enum Status: String { case draft }
struct Settings {}

@PersistentModel
final class Item: NSManagedObject {
  @Attribute var a: Status  // error: `.default` storage only supports primitive
  @Attribute(storageMethod: .raw) var b: Int  // error: `.raw` requires a RawRepresentable type
  @Attribute(storageMethod: .codable) var c: [Int]  // error: currently requires an optional property
  @Attribute(storageMethod: .composition) var d: String?  // error: requires a @Composition struct type
  @Attribute(.unique, .transient) var e: Int  // error: cannot be combined with `.unique`
  @Attribute(.transient, storageMethod: .raw) var f: Status?  // error: only supports `.default` storage
  @Attribute(storageMethod: .transformed(name: "")) var g: [Int]?  // error: non-empty transformer name
  @Attribute(decodeFailurePolicy: .debugAssertNil) var h: Int  // error: only supported for `.raw`
  @Attribute(.range(0...9)) var i: String  // error: only supports attributes of numbers
  @Attribute(.length(5...1)) var j: String  // error: upper bound below its lower one
  @Attribute(persistentName: "a b") var k: Int  // error: valid Core Data attribute name
  var l: Int = 0 { didSet {} }  // error: cannot have `willSet` or `didSet`
  @NSManaged var m: String  // error: has no accessors on this platform
}

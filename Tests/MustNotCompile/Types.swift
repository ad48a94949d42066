import CDEManagedModel
import CDEModelRuntime
import Foundation

struct Settings {}
struct Place {}
final class Plain: ValueTransformer {}

// What only the type checker knows: these errors stand in expansions, but for the transformer's.
@PersistentModel
final class Item: NSManagedObject {
  // anywhere: requires that 'Settings' conform to 'Decodable'
  @Attribute(storageMethod: .codable) var a: Settings?
  // anywhere: type 'Place' has no member '__cdRuntimeCompositionFields'
  @Attribute(storageMethod: .composition) var b: Place?
  // anywhere: requires that 'Settings' conform to 'RawRepresentable'
  @Attribute(storageMethod: .raw) var c: Settings?
  // anywhere: 'CDRegisteredValueTransformer'
  @Attribute(storageMethod: .transformed(Plain.self)) var d: [Int]?  // error: Plain
}

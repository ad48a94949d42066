// flags: -default-isolation MainActor
import CDEManagedModel
import CDEModelRuntime
import Foundation

struct Settings: Codable {}
nonisolated struct Options: Codable {}

// expansions: 2
@PersistentModel
final class Item: NSManagedObject {
  // anywhere: main actor-isolated conformance of 'Settings' to 'Decodable' cannot be used in nonisolated context
  // anywhere: In a module that defaults to the main actor, declare it `nonisolated`.
  @Attribute(storageMethod: .codable) var settings: Settings?
  @Attribute(storageMethod: .codable) var options: Options?
}

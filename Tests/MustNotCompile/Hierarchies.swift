import CDEManagedModel
import CDEModelRuntime
import Foundation

class Plain: NSManagedObject {}

// A superclass that is no model: one error, which says what a superclass may be.
// expansions: 1
// anywhere: a @PersistentModel class inherits from NSManagedObject or from another @PersistentModel class
@PersistentModel
final class Child: Plain {
  var title: String = ""
  @Relationship(inverse: "child", deleteRule: .nullify) var other: Child?
}

@PersistentModel
final class Coded: Codable {}  // error: must inherit from NSManagedObject

@PersistentModel(isAbstract: true)
final class Last: NSManagedObject {}  // error: from a `final` class none can

@PersistentModel(isAbstract: true)
class Medium: NSManagedObject {
  var title: String = ""
}

@PersistentModel
final class Clip: Medium {
  var seconds: Double = 0
}

func read(_ snapshot: Clip.Snapshot) {
  _ = snapshot.title + "\(snapshot.seconds)"
  _ = snapshot.length  // error: has no dynamic member 'length'
  _ = Clip.path.length  // error: reference to member 'length' cannot be resolved
  _ = Medium.path.seconds  // error: reference to member 'seconds' cannot be resolved
}

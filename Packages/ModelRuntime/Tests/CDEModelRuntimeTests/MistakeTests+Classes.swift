import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// A name as rewritten sources have it, with its number by FNV-1a.
private func named(_ name: StaticString) -> _CDName {
  _CDName(name, name.description.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
}

private final class Sending: NSManagedObject {
  var stamps: Set<Stamp> { _cdGet(named("stamps"), as: Set<Stamp>.self) }
  var seal: Stamp? { _cdGet(named("seal"), as: Stamp?.self) }
}

private final class Stamp: NSManagedObject {}

extension MistakeTests {
  /// In a process of its own: the handler of notes is the process's, and a class is told of once.
  @Test("A model that gives the members of a relationship another class than their property declares")
  func otherClassOfMembers() async {
    await #expect(processExitsWith: .success) {
      let sending = entity("Sending", nil, [])
      let stamp = entity("Stamp", nil, [])
      sending.managedObjectClassName = NSStringFromClass(Sending.self)
      connect(.many(sending, "stamps"), .one(stamp, "sending"))
      connect(.one(sending, "seal"), .one(stamp, "sealed"))
      let notes = Unchecked(NSMutableArray())
      Diagnostics.handler = { notes.value.add($0) }
      let context = try Stack(model: model(sending, stamp)).context()
      let made = try #require(context.make("Sending") as? Sending)
      made.setValue(NSSet(object: context.make("Stamp")), forKey: "stamps")
      made.setValue(context.make("Stamp"), forKey: "seal")
      for _ in 0..<2 { #expect(made.stamps.isEmpty && made.seal == nil) }
      let told = notes.value.compactMap { $0 as? String }
      #expect(
        told == [
          "A property declares a relationship to Stamp, and leads to Stamp, whose objects are of the class NSManagedObject: they are left "
            + "out where it is read. Set the entity's managedObjectClassName to Stamp, or declare the property with NSManagedObject."
        ])
      exit(told.count == 1 && told[0].contains("of the class NSManagedObject: they are left out") ? 0 : 1)
    }
  }
}

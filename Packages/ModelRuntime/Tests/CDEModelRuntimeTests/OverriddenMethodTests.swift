import CDEManagedModel
import Foundation
import Testing

@testable import CDEModelRuntime

private class Checking: NSManagedObject {
  override func validateValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    try super.validateValue(value, forKey: key)
  }
}

private final class InheritsChecks: Checking {
  var more = 0
}

private final class Awaking: NSManagedObject {
  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
}

private class Hooked: NSManagedObject {
  override func willSave() {}
  override func awakeFromFetch() {}
  override func setValue(_ value: Any?, forKey key: String) { super.setValue(value, forKey: key) }
}

private class Shaped<Shape>: Hooked {
  override func validateValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {}
}

// What a save and a merge call for nothing would cost each object.
@Suite("Overridden methods")
struct OverriddenMethodTests {
  @Test("A class has a method of its own if it, or a class above it, overrides it")
  func overrides() {
    #expect(OverriddenMethods.includeValidateValue(Checking.self))
    #expect(OverriddenMethods.includeValidateValue(InheritsChecks.self))
    #expect(OverriddenMethods.includeValidateValue(Shaped<Int>.self))
    #expect(OverriddenMethods.includeAwakeFromSnapshot(Awaking.self))
  }

  @Test("A class without the method is told apart, whatever else it overrides")
  func others() {
    for type in [NSManagedObject.self, Item.self, Category.self, Hooked.self, Awaking.self] {
      #expect(!OverriddenMethods.includeValidateValue(type), "\(type)")
    }
    for type in [NSManagedObject.self, Item.self, Hooked.self, Checking.self, InheritsChecks.self] {
      #expect(!OverriddenMethods.includeAwakeFromSnapshot(type), "\(type)")
    }
  }
}

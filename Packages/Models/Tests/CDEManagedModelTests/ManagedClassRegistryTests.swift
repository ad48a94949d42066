import Foundation
import Testing

@_spi(CDE) @testable import CDEManagedModel

final class RegistryTopLevel: NSObject {}
private final class RegistryHidden: NSObject {}
private enum Left { final class RegistryTwin: NSObject {} }
private enum Right { final class RegistryTwin: NSObject {} }

@Suite("The class registry")
struct ManagedClassRegistryTests {
  @Test("A top-level class is found by its qualified name without being registered")
  func topLevel() {
    #expect(ManagedClassRegistry.lookup("CDEManagedModelTests.RegistryTopLevel") == RegistryTopLevel.self)
    #expect(ManagedClassRegistry.lookup("CDEManagedModelTests.NoSuchClass") == nil)
    #expect(ManagedClassRegistry.lookup("no class.at (all)") == nil)
  }

  @Test("A private class is found by bare, qualified and full name once registered")
  func hidden() {
    let name = ManagedClassRegistry.register(RegistryHidden.self)
    #expect(ManagedClassRegistry.register(RegistryHidden.self) == name)
    ManagedClassRegistry.register(RegistryHidden.self, as: "Renamed")
    for name in [name, "RegistryHidden", "CDEManagedModelTests.RegistryHidden", "Renamed"] {
      #expect(ManagedClassRegistry.lookup(name) == RegistryHidden.self, "\(name)")
    }
    #expect(ManagedClassRegistry.candidates(named: "RegistryHidden").count == 1)
  }

  @Test("A bare name that fits two classes finds neither; their full names find each")
  func twins() {
    let names = [
      ManagedClassRegistry.register(Left.RegistryTwin.self),
      ManagedClassRegistry.register(Right.RegistryTwin.self),
    ]
    #expect(ManagedClassRegistry.lookup("RegistryTwin") == nil)
    #expect(ManagedClassRegistry.candidates(named: "RegistryTwin").count == 2)
    #expect(ManagedClassRegistry.lookup(names[0]) == Left.RegistryTwin.self)
    #expect(ManagedClassRegistry.lookup(names[1]) == Right.RegistryTwin.self)
  }

  @Test("Many threads may register and look up")
  func concurrent() async {
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<64 {
        group.addTask {
          let name = ManagedClassRegistry.register(RegistryHidden.self)
          return ManagedClassRegistry.lookup(name) == RegistryHidden.self
        }
      }
      for await found in group { #expect(found) }
    }
  }
}

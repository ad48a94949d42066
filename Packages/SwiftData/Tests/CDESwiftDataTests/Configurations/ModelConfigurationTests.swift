import CDEModelRuntime
import Foundation
import Testing

@testable import CDESwiftData

@Suite("Configurations")
struct ModelConfigurationTests {
  @Test("Without a name the file is default.store in the program's folder of application data")
  func standard() {
    let configuration = ModelConfiguration()
    #expect(configuration.name == "default")
    #expect(configuration.url.lastPathComponent == "default.store")
    #expect(configuration.url.path.hasPrefix(NSPersistentContainer.defaultDirectoryURL().path + "/"))
    #expect(configuration.id == configuration.url)
    #expect(configuration.allowsSave && !configuration.isStoredInMemoryOnly && configuration.schema == nil)
    #expect(configuration.groupContainer == .automatic && configuration.cloudKitDatabase == .automatic)
    #expect(ModelConfiguration("Notes").url.lastPathComponent == "Notes.store")
  }

  @Test("In memory there is no file")
  func memory() {
    #expect(ModelConfiguration(isStoredInMemoryOnly: true).url.path == "/dev/null")
    #expect(ModelConfiguration("a", isStoredInMemoryOnly: true).isStoredInMemoryOnly)
    #expect(!ModelConfiguration(isStoredInMemoryOnly: false).isStoredInMemoryOnly)
  }

  @Test("A configuration may name some models, a group or a file")
  func places() {
    let some = ModelConfiguration(for: Bar.Garnish.self, isStoredInMemoryOnly: true)
    #expect(some.schema?.entitiesByName["Garnish"] != nil)
    let group = ModelConfiguration(
      "a", groupContainer: .identifier("group.b"), cloudKitDatabase: .private("c"))
    #expect(group.url.pathComponents.suffix(2) == ["group.b", "a.store"])
    #expect(group.groupAppContainerIdentifier == "group.b" && group.cloudKitContainerIdentifier == "c")
    let url = URL(fileURLWithPath: "/tmp/other.sqlite")
    let file = ModelConfiguration("x", schema: Schema(Bar.Garnish.self), url: url, allowsSave: false)
    #expect(file.url == url && !file.allowsSave && file.name == "x")
    #expect(file != ModelConfiguration("x", schema: Schema(Bar.Garnish.self), url: url))
    #expect(file == ModelConfiguration("x", schema: Schema(Bar.Garnish.self), url: url, allowsSave: false))
    #expect(ModelConfiguration(url: url, cloudKitDatabase: .none).cloudKitContainerIdentifier == nil)
  }

  @Test("Names that no file can have are refused", arguments: ["", ".", "..", "a/b", "a\0b"])
  func invalidNames(name: String) {
    let error = #expect(throws: SwiftDataError.self) { try ModelConfiguration(name).validate() }
    #expect(error == .configurationFileNameContainsInvalidCharacters)
  }

  @Test("A name is as long as its files allow")
  func longNames() throws {
    try ModelConfiguration(String(repeating: "a", count: 245)).validate()
    let error = #expect(throws: SwiftDataError.self) {
      try ModelConfiguration(String(repeating: "ä", count: 123)).validate()
    }
    #expect(error == .configurationFileNameTooLong)
  }
}

import Testing

@Suite("Model actors")
struct ActorTests {
  @Test("An actor gets its context, its container, an initialiser and both conformances")
  func actor() {
    let expansion = Expansion("@NSModelActor\nactor ItemStore {\n  var seen = 0\n  let limit: Int = 3\n}")
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        nonisolated let modelExecutor: NSModelObjectContextExecutor

        nonisolated let modelContainer: NSPersistentContainer

        init(container: NSPersistentContainer) {
          modelExecutor = NSModelObjectContextExecutor(context: container.newBackgroundContext())
          modelContainer = container
        }
        """), "\(expansion.text)")
    #expect(expansion.text.contains("extension ItemStore: NSModelActor {"))
    #expect(expansion.text.contains("extension ItemStore: _NSModelActorInitializable {"))
  }

  @Test("Without generated initialisers only the two lets and the plain conformance remain")
  func disabled() {
    let expansion = Expansion(
      """
      @NSModelActor(disableGenerateInit: true)
      actor ItemStore {
        let name: String
      }
      """)
    #expect(expansion.messages.isEmpty)
    #expect(expansion.text.contains("let modelExecutor") && expansion.text.contains("let modelContainer"))
    #expect(!expansion.text.contains("init(") && !expansion.text.contains("_NSModelActorInitializable"))
    #expect(expansion.text.contains("extension ItemStore: NSModelActor {"))
  }

  @Test("A class gets its container, an initialiser and the conformance")
  func mainClass() {
    let expansion = Expansion("@MainActor @NSMainModelActor\nfinal class ViewModel {}")
    #expect(expansion.messages.isEmpty)
    #expect(
      expansion.contains(
        """
        let modelContainer: NSPersistentContainer

        init(modelContainer: NSPersistentContainer) {
          self.modelContainer = modelContainer
        }
        """), "\(expansion.text)")
    #expect(expansion.text.contains("extension ViewModel: NSMainModelActor {"))
    let disabled = Expansion(
      """
      @MainActor @NSMainModelActor(disableGenerateInit: true)
      final class ViewModel { let screen: String }
      """)
    #expect(disabled.messages.isEmpty && !disabled.text.contains("init("))
  }

  @Test(
    "Generated members are as visible as the type",
    arguments: [
      ("public", "public "), ("package", "package "), ("", ""), ("private", "fileprivate "),
      ("fileprivate", "fileprivate "),
    ])
  func access(type: String, member: String) {
    let actor = Expansion("@NSModelActor\n\(type) actor Store {}")
    #expect(
      actor.lines.contains("\(member)nonisolated let modelContainer: NSPersistentContainer"))
    #expect(actor.lines.contains("\(member)init(container: NSPersistentContainer) {"))
    let main = Expansion("@NSMainModelActor\n\(type) class Store {}")
    #expect(main.lines.contains("\(member)let modelContainer: NSPersistentContainer"))
    #expect(!main.text.contains("\(member)extension") || member.isEmpty)
  }

  @Test("NSModelActor on anything but an actor is one error with the way out")
  func notAnActor() throws {
    let type = Expansion("@NSModelActor\npublic final class Store {}")
    let message = try #require(type.messages.first)
    #expect(type.messages.count == 1 && message.node == "@NSModelActor")
    #expect(message.text.contains("can only be attached to an actor declaration"))
    #expect(
      message.fixIts[0].source.contains("actor Store {}") && !message.fixIts[0].source.contains("class"))
    #expect(!message.fixIts[0].source.contains("final"))
    #expect(message.fixIts[1].source == "@NSMainModelActor\npublic final class Store {}")
    #expect(!type.text.contains("modelContainer") && !type.text.contains("extension"))

    let structure = try #require(Expansion("@NSModelActor\nstruct Store {}").messages.first)
    #expect(structure.fixIts[0].source == "@NSModelActor\nactor Store {}")
    #expect(Expansion("@NSModelActor\nenum Store {}").messages.count == 1)
  }

  @Test("NSMainModelActor on anything but a class is one error with the way out")
  func notAClass() throws {
    let actor = try #require(Expansion("@NSMainModelActor\nactor Store {}").messages.first)
    #expect(actor.text.contains("can only be attached to a class declaration"))
    #expect(actor.fixIts[0].source == "@NSModelActor\nactor Store {}")
    let structure = try #require(Expansion("@NSMainModelActor\nstruct Store {}").messages.first)
    #expect(structure.fixIts[0].source == "@NSMainModelActor\nfinal class Store {}")
  }

  @Test(
    "A property that the generated initialiser cannot fill is an error at its name",
    arguments: [
      ("@NSModelActor", "actor"), ("@MainActor @NSMainModelActor", "final class"),
    ])
  func unfilled(macro: String, kind: String) throws {
    let expansion = Expansion(
      "\(macro)\n\(kind) Store {\n  let name: String\n  var hint: String?\n  var size: Int { 1 }\n}")
    let message = try #require(expansion.messages.first)
    #expect(expansion.messages.count == 1 && message.node == "name" && message.line == 3)
    #expect(message.fixIts[0].source.contains("\(macro)(disableGenerateInit: true)\n"))
  }

  @Test("disableGenerateInit must be a literal, and no other argument exists")
  func arguments() {
    let expansion = Expansion("@NSModelActor(disableGenerateInit: flag, other: 1)\nactor Store {}")
    #expect(expansion.errors.contains { $0.contains("must be the literal `true` or `false`") })
    #expect(expansion.errors.contains { $0.contains("unknown argument label `other`") })
  }
}

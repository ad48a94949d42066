import CDESwiftData
import Testing

@Model
final class Folder {
  enum Kind: Codable, Equatable {
    case plain
    case smart(query: String, limit: Int)
    case shared(with: [String])
  }

  var name: String
  var kind: Kind
  var parent: Folder?
  @Relationship(deleteRule: .cascade, inverse: \Folder.parent) var children: [Folder] = []

  init(_ name: String, kind: Kind = .plain, children: [Folder] = []) {
    self.name = name
    self.kind = kind
    self.children = children
  }

  var path: String { parent.map { $0.path + "/" + name } ?? name }
}

@Model
final class Person {
  var name: String
  var friends: [Person] = []
  @Relationship(inverse: \Person.friends) var friendOf: [Person] = []
  init(_ name: String) { self.name = name }
}

@Suite("Folders in folders, and friends")
struct FoldersProgram {
  @Test("A tree is inserted, found and deleted as a whole")
  func tree() throws {
    let context = ModelContext(
      try ModelContainer(for: Folder.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let root = Folder(
      "root",
      children: [
        Folder("a", kind: .smart(query: "x", limit: 3), children: [Folder("b")]),
        Folder("c", kind: .shared(with: ["Ada", "Alan"])),
      ])
    #expect(root.children[0].children[0].path == "root/a/b")
    context.insert(root)
    #expect(root.children[0].modelContext === context)
    try context.save()
    let other = ModelContext(context.container)
    let folders = try other.fetch(FetchDescriptor<Folder>(sortBy: [SortDescriptor(\.name)]))
    #expect(folders.map(\.path) == ["root/a", "root/a/b", "root/c", "root"])
    #expect(folders[0].kind == .smart(query: "x", limit: 3))
    #expect(folders[1].kind == .plain)
    #expect(folders[2].kind == .shared(with: ["Ada", "Alan"]))
    let roots = #Predicate<Folder> { $0.parent == nil }
    #expect(try other.fetch(FetchDescriptor(predicate: roots)).map(\.name) == ["root"])
    let below = #Predicate<Folder> { $0.parent?.parent?.name == "root" }
    #expect(try other.fetch(FetchDescriptor(predicate: below)).map(\.name) == ["b"])
    folders[3].children.removeAll { $0.name == "c" }
    try other.save()
    #expect(try other.fetch(FetchDescriptor(predicate: roots)).count == 2)
    context.delete(root)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Folder>()).map(\.name) == ["c"])
  }

  @Test("A relationship between people of one class has two sides")
  func friends() throws {
    let context = ModelContext(
      try ModelContainer(for: Person.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let (ada, alan, grace) = (Person("Ada"), Person("Alan"), Person("Grace"))
    ada.friends = [alan, grace]
    context.insert(ada)
    alan.friends.append(grace)
    try context.save()
    #expect(Set(grace.friendOf.map(\.name)) == ["Ada", "Alan"])
    let popular = #Predicate<Person> { $0.friendOf.count > 1 }
    #expect(try context.fetch(FetchDescriptor(predicate: popular)).map(\.name) == ["Grace"])
  }
}

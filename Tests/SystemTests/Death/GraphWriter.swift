import CoreDataEvolution

/// Does the steps of a ``GraphWorld`` in a store, one save each.
@NSModelActor
actor GraphWriter {
  /// - Parameter author: the author of the save in the store's history.
  func save(_ step: GraphWorld.Step, author: String? = nil) throws {
    modelContext.transactionAuthor = author
    switch step {
    case .insert(let number, let members, let marks):
      let owner = Owner(context: modelContext)
      owner.number = number
      for number in 0..<members {
        let member = Member(context: modelContext)
        member.number = number
        member.text = String(repeating: "text of some length ", count: 1 + number % 7)
        member.owner = owner
      }
      for name in marks { owner.addToMarks(try mark(name)) }
    case .revise(let number, let revision, let marks):
      let owner = try owner(number)
      owner.revision = revision
      for member in owner.members { member.revision = revision }
      for mark in owner.marks where !marks.contains(mark.name) { owner.removeFromMarks(mark) }
      for name in marks { owner.addToMarks(try mark(name)) }
    case .delete(let number):
      modelContext.delete(try owner(number))
    }
    try modelContext.save()
  }

  private func owner(_ number: Int) throws -> Owner {
    let request = Owner.fetchRequest()
    request.predicate = NSPredicate(format: "number == %d", number)
    guard let owner = try modelContext.fetch(request).first else { throw GraphError.missing(owner: number) }
    return owner
  }

  private func mark(_ name: String) throws -> Mark {
    let request = Mark.fetchRequest()
    request.predicate = NSPredicate(format: "name == %@", name)
    if let known = try modelContext.fetch(request).first { return known }
    let made = Mark(context: modelContext)
    made.name = name
    return made
  }
}

enum GraphError: Error {
  case missing(owner: Int)
  case torn(String)
}

extension GraphWorld {
  /// Reads a store, from every side of every relationship.
  ///
  /// - Throws: `GraphError.torn` where two sides of a relationship disagree.
  init(reading container: NSPersistentContainer) throws {
    let context = container.newBackgroundContext()
    self = try context.performAndWait { try GraphWorld(context) }
  }

  private init(_ context: NSManagedObjectContext) throws {
    self.init()
    var pairs: Set<String> = []
    for owner in try context.fetch(Owner.fetchRequest()) {
      var graph = Graph(revision: owner.revision)
      for member in owner.members {
        guard member.owner === owner else {
          throw GraphError.torn("member \(member.number) of \(owner.number)")
        }
        graph.members[member.number] = member.revision
      }
      guard graph.members.count == owner.membersCount else {
        throw GraphError.torn("members of \(owner.number) counted twice")
      }
      for mark in owner.marks {
        graph.marks.insert(mark.name)
        pairs.insert("\(owner.number) \(mark.name)")
      }
      guard graphs.updateValue(graph, forKey: owner.number) == nil else {
        throw GraphError.torn("owner \(owner.number) is there twice")
      }
    }
    for mark in try context.fetch(Mark.fetchRequest()) {
      marks.insert(mark.name)
      for owner in mark.owners {
        guard pairs.remove("\(owner.number) \(mark.name)") != nil else {
          throw GraphError.torn("\(mark.name) says \(owner.number), which does not say it")
        }
      }
    }
    guard pairs.isEmpty else {
      throw GraphError.torn("owners say marks that do not say them: \(pairs.sorted())")
    }
    let strays = NSFetchRequest<Member>(entityName: "Member")
    strays.predicate = NSPredicate(format: "owner == nil")
    guard try context.count(for: strays) == 0 else { throw GraphError.torn("members without an owner") }
    guard try context.count(for: Member.fetchRequest()) == graphs.values.reduce(0, { $0 + $1.members.count })
    else { throw GraphError.torn("members that no owner says") }
  }
}

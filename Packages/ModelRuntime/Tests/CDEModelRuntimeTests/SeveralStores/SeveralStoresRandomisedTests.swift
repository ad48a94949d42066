import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

/// Random programs over three stores, and a plain model of the same.
@Suite("Random programs over several stores", .ownThreads)
struct SeveralStoresRandomisedTests {
  /// What the stores hold: for each part its number, store, text and owner.
  private struct Row: Hashable {
    var store: Int
    var text: String
    var owner: Int?
  }

  private struct World: Equatable {
    var parts: [Int: Row] = [:]
    var owners: [Int: Int] = [:]
  }

  private static func read(_ two: TwoStores, in names: [String]) throws -> World {
    var world = World()
    let context = two.context()
    func store(_ object: NSManagedObject) -> Int {
      names.firstIndex(of: object.objectID.persistentStore!.url!.deletingPathExtension().lastPathComponent)!
    }
    for owner in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner")) {
      world.owners[owner.value(forKey: "rank") as! Int] = store(owner)
    }
    for part in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Part")) {
      let owner = (part.value(forKey: "owner") as? NSManagedObject)?.value(forKey: "rank") as? Int
      world.parts[part.value(forKey: "n") as! Int] = Row(
        store: store(part), text: part.value(forKey: "text") as? String ?? "", owner: owner)
    }
    return world
  }

  @Test("The stores hold what a plain model holds", arguments: 1...4)
  func programs(round: Int) throws {
    let seed = UInt64.random(in: 1...UInt64.max)
    print("Programs over several stores, seed \(seed)")
    var random = SplitMix(state: seed)
    let names = ["A", "B", "C"]
    var two = try TwoStores(names)
    var stored = World()
    var number = 0
    for _ in 0..<5 {
      // Each run of the program opens the stores in another order.
      let order = names.shuffled(using: &random)
      two = try TwoStores(order, in: two.folder)
      let stores = names.map { name in two.stores[order.firstIndex(of: name)!] }
      let contexts = [two.context(), two.context()]
      contexts[1].mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      for _ in 0..<12 {
        let place = Int.random(in: 0...1, using: &random)
        let context = contexts[place]
        let child = Bool.random(using: &random) ? NSManagedObjectContext(concurrencyType: .privateQueue) : nil
        child?.parent = context
        var world = stored
        func work(_ context: NSManagedObjectContext) throws {
          if place == 0 { context.reset() }
          for _ in 0..<Int.random(in: 1...6, using: &random) {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
            request.sortDescriptors = [NSSortDescriptor(key: "n", ascending: true)]
            let parts = try context.fetch(request)
            #expect(parts.map { $0.value(forKey: "n") as! Int } == world.parts.keys.sorted(), "seed \(seed)")
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
              number += 1
              let store = Int.random(in: 0..<3, using: &random)
              context.assign(context.make("Owner", ["rank": number]), to: stores[store])
              world.owners[number] = store
            case 1, 2:
              number += 1
              let isAssigned = Bool.random(using: &random)
              let store = isAssigned ? Int.random(in: 0..<3, using: &random) : names.firstIndex(of: order[0])!
              let part = context.make("Part", ["n": number, "text": "new"])
              if isAssigned { context.assign(part, to: stores[store]) }
              let rank = world.owners.filter { $0.value == store }.keys.sorted().randomElement(using: &random)
              if let rank {
                let owners = NSFetchRequest<NSManagedObject>(entityName: "Owner")
                owners.predicate = NSPredicate(format: "rank == %@", rank)
                part.setValue(try context.fetch(owners).first, forKey: "owner")
              }
              world.parts[number] = Row(store: store, text: "new", owner: rank)
            case 3:
              guard let part = parts.randomElement(using: &random) else { continue }
              let n = part.value(forKey: "n") as! Int
              number += 1
              part.setValue("text \(number)", forKey: "text")
              world.parts[n]?.text = "text \(number)"
            default:
              guard let part = parts.randomElement(using: &random) else { continue }
              world.parts[part.value(forKey: "n") as! Int] = nil
              context.delete(part)
            }
          }
        }
        if let child {
          context.performAndWait { context.reset() }
          try child.performAndWait {
            try work(child)
            try child.save()
          }
          try context.performAndWait { try context.save() }
        } else {
          try context.performAndWait {
            try work(context)
            try context.save()
          }
        }
        stored = world
        #expect(try Self.read(two, in: names) == stored, "seed \(seed)")
      }
      try two.close()
    }
    // Each file by itself holds its part.
    for (place, name) in names.enumerated() {
      let one = try TwoStores([name], in: two.folder)
      let numbers: [Int] = try one.context().list("n", of: "Part")
      #expect(Set(numbers) == Set(stored.parts.filter { $0.value.store == place }.keys), "seed \(seed)")
      try one.close()
    }
  }
}

import CDESwiftData
import Foundation
import Testing

/// Conditions of many forms over random graphs: stored models, unsaved ones and Foundation's own evaluation answer the same.
///
/// CDE_SEED sets the draw, CDE_PREDICATE_ROUNDS the number of graphs.
@Suite("Conditions over random models")
struct ParcelPredicateTests {
  private struct Graph {
    var context: ModelContext
    var parcels: [Parcel] = []
    var stations: [Station] = []

    init(_ draw: inout Draw) throws {
      context = ModelContext(
        try .inMemory(
          Parcel.self, Station.self, Chief.self, Piece.self, Mark.self, Stamp.self, Cargo.self, Liquid.self,
          Acid.self, Glass.self))
      let chiefs = (0..<2).map { _ in Chief(&draw) }
      stations = (0..<4).map { _ in Station(&draw) }
      for station in stations { station.chief = draw.optional { $0.one(chiefs) } }
      let marks = (0..<4).map { _ in Mark(&draw) }
      let cargo = [Cargo(&draw), Liquid(&draw), Acid(&draw), Glass(&draw), Acid(&draw)]
      for model in chiefs { context.insert(model) }
      for model in stations { context.insert(model) }
      for model in marks { context.insert(model) }
      for model in cargo { context.insert(model) }
      for number in 0..<24 {
        let parcel = Parcel(number: number % 9 - 3, &draw)
        context.insert(parcel)
        parcel.station = draw.optional { $0.one(stations) }
        parcel.cargo = draw.optional { $0.one(cargo) }
        parcel.marks = draw.some(marks)
        for _ in 0..<draw.one([0, 0, 1, 2, 3]) { parcel.pieces.append(Piece(&draw)) }
        if draw.bool() { parcel.stamps = (0..<draw.one([0, 1, 2])).map { _ in Stamp(&draw) } }
        parcels.append(parcel)
      }
    }

    mutating func change(_ draw: inout Draw) {
      for parcel in parcels where draw.bool() {
        parcel.change(&draw)
        if draw.bool() { parcel.station = draw.optional { $0.one(stations) } }
        if draw.bool() { parcel.pieces.append(Piece(&draw)) }
        if draw.bool(), let piece = parcel.pieces.first { context.delete(piece) }
      }
      for number in 0..<6 {
        let parcel = Parcel(number: number, &draw)
        context.insert(parcel)
        parcels.append(parcel)
      }
      context.processPendingChanges()
    }
  }

  private func compare(
    _ graph: Graph, _ forms: [ParcelForm], _ draw: inout Draw, _ state: String, _ seed: UInt64
  ) throws {
    for station in graph.stations {
      let there = graph.parcels.filter { $0.station === station }
      #expect(Set(station.parcels) == Set(there), "both sides, \(state), seed \(seed)")
    }
    // Another context reads the rows anew.
    let fresh = state == "saved" ? ModelContext(graph.context.container) : nil
    for form in forms {
      let predicate = form.make(&draw)
      // The store decides about models without changes of their own, as in Core Data. It does not know what changed in models that
      // a condition reaches through another one.
      if form.name == "elements over a chain", state == "changed" { continue }
      let expected = try graph.parcels.filter { try predicate.evaluate($0) }.map(\.persistentModelID).sorted()
      let descriptor = FetchDescriptor(predicate: predicate)
      do {
        let found = try graph.context.fetch(descriptor).map(\.persistentModelID).sorted()
        #expect(found == expected, "\(form.name), \(state), seed \(seed)")
        #expect(
          try graph.context.fetchCount(descriptor) == expected.count, "\(form.name), \(state), seed \(seed)")
        if let fresh {
          #expect(
            try fresh.fetch(descriptor).map(\.persistentModelID).sorted() == expected,
            "\(form.name), seed \(seed)")
        }
      } catch let error as SwiftDataError {
        Issue.record("\(form.name): \(error.message)")
      }
    }
  }

  @Test(
    "The store, memory and Foundation give the same models",
    arguments: [
      ParcelForm.values, ParcelForm.computed, ParcelForm.texts, ParcelForm.types, ParcelForm.related,
      ParcelForm.classes,
    ])
  func differential(_ forms: [ParcelForm]) throws {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0..<1_000_000)
    let rounds = environment["CDE_PREDICATE_ROUNDS"].flatMap(UInt64.init) ?? 2
    print("ParcelPredicateTests: CDE_SEED=\(first), rounds \(rounds)")
    for seed in first..<(first + rounds) {
      var draw = Draw(seed: seed)
      var graph = try Graph(&draw)
      try compare(graph, forms, &draw, "unsaved", seed)
      try graph.context.save()
      try compare(graph, forms, &draw, "saved", seed)
      graph.change(&draw)
      try compare(graph, forms, &draw, "changed", seed)
    }
  }

  @Test("Sets of identifiers select stored and unsaved models")
  func identifiers() throws {
    var draw = Draw(seed: .random(in: 0..<1_000_000))
    var graph = try Graph(&draw)
    for _ in 0..<2 {
      let wanted = Set(draw.some(graph.parcels).map(\.persistentModelID))
      let one = graph.parcels[0].persistentModelID
      let station = graph.stations[0].persistentModelID
      let found = try graph.context.fetch(
        FetchDescriptor<Parcel>(predicate: #Predicate { wanted.contains($0.persistentModelID) }))
      #expect(Set(found.map(\.persistentModelID)) == wanted)
      let single = try graph.context.fetch(
        FetchDescriptor<Parcel>(predicate: #Predicate { $0.persistentModelID == one }))
      #expect(single.map(\.persistentModelID) == [one])
      let others = try graph.context.fetchCount(
        FetchDescriptor<Parcel>(predicate: #Predicate { $0.persistentModelID != one }))
      #expect(others == graph.parcels.count - 1)
      let there = try graph.context.fetch(
        FetchDescriptor<Parcel>(predicate: #Predicate { $0.station?.persistentModelID == station }))
      #expect(Set(there.map(\.persistentModelID)) == Set(graph.stations[0].parcels.map(\.persistentModelID)))
      try graph.context.save()
      graph.change(&draw)
      try graph.context.save()
    }
  }

  @Test("A cast in a fetch of the first class gives the same models as Foundation")
  func castOfTheModelItself() throws {
    var draw = Draw(seed: .random(in: 0..<1_000_000))
    let graph = try Graph(&draw)
    let (volume, grade) = (draw.real(), draw.int())
    let conditions: [Predicate<Cargo>] = [
      #Predicate { $0 is Liquid },
      #Predicate { if let liquid = $0 as? Liquid { liquid.volume > volume } else { false } },
      #Predicate { if let acid = $0 as? Acid { acid.grade == grade } else { $0.code > grade } },
      #Predicate { if let acid = $0 as? Acid { acid.volume > volume } else { false } },
      #Predicate { ($0 as? Liquid)?.volume == volume },
      #Predicate { ($0 as? Acid)?.grade != grade },
      #Predicate { ($0 as? Acid)?.grade == nil },
      #Predicate { (($0 as? Liquid)?.volume ?? 0) > volume },
    ]
    for _ in 0..<2 {
      let all = try graph.context.fetch(FetchDescriptor<Cargo>())
      #expect(all.count == 5)
      for (number, condition) in conditions.enumerated() {
        let expected = try all.filter { try condition.evaluate($0) }.map(\.code).sorted()
        #expect(
          try graph.context.fetch(FetchDescriptor(predicate: condition)).map(\.code).sorted() == expected,
          "\(number)")
      }
      try graph.context.save()
    }
  }
}

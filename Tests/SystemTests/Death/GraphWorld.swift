import CoreDataEvolution

/// What the store should hold: the same sequence of saves, done in plain values.
struct GraphWorld: Equatable, CustomStringConvertible {
  struct Graph: Equatable {
    var revision = 0
    /// Revision of each member, by number.
    var members: [Int: Int] = [:]
    var marks: Set<String> = []
  }

  enum Step {
    case insert(owner: Int, members: Int, marks: Set<String>)
    case revise(owner: Int, revision: Int, marks: Set<String>)
    case delete(owner: Int)
  }

  var graphs: [Int: Graph] = [:]
  var marks: Set<String> = []

  init() {}

  /// The world after a number of saves.
  init(seed: UInt64, after count: Int) {
    for number in 0..<count { apply(step(number, seed: seed)) }
  }

  /// What save `number` does. It depends on the seed, the number and the world alone, so that another
  /// process can tell.
  func step(_ number: Int, seed: UInt64) -> Step {
    var random = SplitMix(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
    let marks = Set(
      (0..<Int.random(in: 0...5, using: &random)).map { _ in
        "mark \(Int.random(in: 0..<12, using: &random))"
      })
    let owners = graphs.keys.sorted()
    switch Int.random(in: 0..<100, using: &random) {
    case 60..<85:
      guard let owner = owners.randomElement(using: &random) else { break }
      return .revise(owner: owner, revision: number, marks: marks)
    case 85..<100:
      guard let owner = owners.randomElement(using: &random) else { break }
      return .delete(owner: owner)
    default: break
    }
    return .insert(owner: number, members: Int.random(in: 1...20, using: &random), marks: marks)
  }

  mutating func apply(_ step: Step) {
    switch step {
    case .insert(let owner, let members, let marks):
      graphs[owner] = Graph(
        members: Dictionary(uniqueKeysWithValues: (0..<members).map { ($0, 0) }), marks: marks)
      self.marks.formUnion(marks)
    case .revise(let owner, let revision, let marks):
      guard var graph = graphs[owner] else { return }
      graph.revision = revision
      graph.members = graph.members.mapValues { _ in revision }
      graph.marks = marks
      graphs[owner] = graph
      self.marks.formUnion(marks)
    case .delete(let owner):
      graphs[owner] = nil
    }
  }

  var description: String {
    "\(graphs.count) graphs, \(graphs.values.reduce(0) { $0 + $1.members.count }) members, \(marks.count) marks"
  }
}

/// A small generator whose numbers are the same everywhere.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

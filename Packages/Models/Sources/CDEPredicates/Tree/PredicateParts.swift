/// The parts of a conjunction or disjunction: a collection of trees, of any depth.
///
/// A tree of many levels is freed by a loop, where an array of trees would be freed by a recursion that a small stack
/// has no room for.
public struct PredicateParts: RandomAccessCollection, Hashable, Sendable {
  private var storage: Storage

  /// Makes the parts of a compound.
  public init(_ parts: some Sequence<PredicateTree>) { self.init(list: Array(parts)) }

  init(list: [PredicateTree]) { storage = Storage(list) }

  public var startIndex: Int { 0 }
  public var endIndex: Int { storage.list.count }
  public subscript(index: Int) -> PredicateTree { storage.list[index] }

  /// The parts as an array, which is not copied.
  public var list: [PredicateTree] { storage.list }

  /// The levels of conditions from a compound of these parts down.
  var levels: Int { storage.levels }

  /// The number of conditions in a compound of these parts, the compound included.
  var weight: Int { storage.weight }

  func isSame(_ other: PredicateParts) -> Bool { storage === other.storage }

  public static func == (left: PredicateParts, right: PredicateParts) -> Bool {
    PredicateTree.and(left) == PredicateTree.and(right)
  }

  public func hash(into hasher: inout Hasher) { PredicateTree.and(self).hash(into: &hasher) }

  private final class Storage: @unchecked Sendable {
    // Guard: the list changes only while a storage with a single owner is freed.
    var list: [PredicateTree]
    let levels: Int
    let weight: Int

    init(_ list: [PredicateTree]) {
      var (levels, weight) = (0, 1)
      for part in list {
        let size = part.size
        levels = Swift.max(levels, size.levels)
        let (sum, isOver) = weight.addingReportingOverflow(size.weight)
        weight = isOver ? .max : sum
      }
      self.list = list
      self.levels = levels + 1
      self.weight = weight
    }

    deinit {
      if levels <= PredicateTree.recursionLimit { return }
      var pending = list
      list = []
      while !pending.isEmpty {
        guard var storage = Self.last(of: &pending), isKnownUniquelyReferenced(&storage) else { continue }
        pending += storage.list
        storage.list = []
      }
    }

    // A function of its own, so that no local variable here owns the storage, too.
    private static func last(of pending: inout [PredicateTree]) -> Storage? {
      var tree = pending.removeLast()
      while case .not(let part) = tree { tree = part }
      switch tree {
      case .and(let parts), .or(let parts): return parts.storage
      default: return nil
      }
    }
  }
}

extension PredicateTree {
  /// The levels of conditions up to which a function may call itself.
  static let recursionLimit = 64

  /// A conjunction: true if all parts are true.
  public static func and(_ parts: [PredicateTree]) -> PredicateTree { .and(PredicateParts(list: parts)) }

  /// A disjunction: true if one part is true.
  public static func or(_ parts: [PredicateTree]) -> PredicateTree { .or(PredicateParts(list: parts)) }

  /// The levels of conditions. Conditions inside an expression are part of that expression.
  @_spi(CDE) public var levels: Int { size.levels }

  /// The number of conditions, as far as an integer can count them.
  @_spi(CDE) public var weight: Int { size.weight }

  fileprivate var size: (levels: Int, weight: Int) {
    switch self {
    case .constant, .comparison: return (1, 1)
    case .and(let parts), .or(let parts): return (parts.levels, parts.weight)
    case .not:
      let (tree, negations) = withoutNegations
      let size = tree.size
      return (size.levels + negations, size.weight)
    }
  }

  /// The negation of a tree. A double one is taken off a long chain, because the compiler's code frees it by recursion.
  static func negation(of tree: PredicateTree) -> PredicateTree {
    if tree.withoutNegations.count >= recursionLimit, case .not(let part) = tree { return part }
    return .not(tree)
  }

  /// What the negations around it negate, and their number.
  private var withoutNegations: (tree: PredicateTree, count: Int) {
    var (tree, count) = (self, 0)
    while case .not(let part) = tree { (tree, count) = (part, count + 1) }
    return (tree, count)
  }
}

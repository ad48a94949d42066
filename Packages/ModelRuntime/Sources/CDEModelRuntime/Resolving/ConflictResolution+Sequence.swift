internal import CDEStore
internal import Foundation

// Objects in each other's way over several constraints are resolved one after the other, as if each had been saved alone. An object that is
// replaced, or gives up its values, is no longer in the way of those that come after it: they would be lost with it.
extension ConflictResolution {
  /// Resolves the clashes of one round.
  func resolve(_ clashes: [UniquenessClash], by type: NSMergePolicyType) throws {
    // No object is in two clashes over one constraint.
    if Set(clashes.map(\.constraint)).count < 2 {
      for clash in clashes { _ = resolve(clash, by: type) }
      return
    }
    let places = places()
    var contests = clashes.map { Contest($0) }
    let arrivals = contests.indices.flatMap { contest in
      clashes[contest].objects.map { object in
        Arrival(
          object: object, isNew: object.isInserted, place: places[ObjectIdentifier(object)] ?? .max,
          contest: contest)
      }
    }
    var heirs: [ObjectIdentifier: NSManagedObject] = [:]
    for arrival in arrivals.sorted(by: { ($0.place, $0.contest) < ($1.place, $1.contest) }) {
      admit(arrival, to: &contests[arrival.contest], &heirs, by: type)
    }
  }

  /// An object that comes to a contest after those before it in the save.
  private struct Arrival {
    let object: NSManagedObject
    /// Whether it was new when the round began.
    let isNew: Bool
    let place: Int
    let contest: Int
  }

  /// The order in which a save writes the changed objects: new ones come first.
  private func places() -> [ObjectIdentifier: Int] {
    let objects = context.changed.filter(\.isInserted) + context.changed.filter { !$0.isInserted }
    return Dictionary(
      objects.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The values of one clash, and who has them after the objects so far.
  private struct Contest {
    enum Holder {
      case vacant
      case row(RowReference)
      case object(NSManagedObject)
    }

    let constraint: [String]
    private let values: NSDictionary
    var holder: Holder

    init(_ clash: UniquenessClash) {
      constraint = clash.constraint
      values = (clash.objects.first?.snapshot(of: clash.constraint) ?? [:]) as NSDictionary
      holder = clash.stored.map(Holder.row) ?? .vacant
    }

    func isHeld(by object: NSManagedObject) -> Bool {
      values.isEqual(object.snapshot(of: constraint) as NSDictionary)
    }
  }

  /// Lets an object take the values of a contest, if it still has them: from the one who has them, or by the policy.
  ///
  /// - Parameter heirs: the objects that replaced others in this round, and have their values.
  private func admit(
    _ arrival: Arrival, to contest: inout Contest, _ heirs: inout [ObjectIdentifier: NSManagedObject],
    by type: NSMergePolicyType
  ) {
    /// Who has an object's values now.
    func heir(of object: NSManagedObject) -> NSManagedObject {
      var heir = object
      while !isPending(heir), let next = heirs[ObjectIdentifier(heir)] { heir = next }
      return heir
    }
    let object = heir(of: arrival.object)
    guard isPending(object), contest.isHeld(by: object) else { return }
    // A save of its own would have made it a stored object by now, which the values of another row do not change.
    let isStored = arrival.isNew && (object !== arrival.object || !object.isInserted)
    if case .object(let other) = contest.holder { contest.holder = .object(heir(of: other)) }
    let clash: UniquenessClash
    switch contest.holder {
    case .row(let row):
      let known = context.registry.object(root: row.batch.layout.root, key: row.key)
      if known === object { return }
      if let known, known.isMarkedDeleted || known.hasChanges && !contest.isHeld(by: known) {
        contest.holder = .object(object)
        return
      }
      clash = UniquenessClash(constraint: contest.constraint, objects: [object], stored: row)
    case .object(let other) where other !== object && isPending(other) && contest.isHeld(by: other):
      clash = UniquenessClash(constraint: contest.constraint, objects: [other, object], stored: nil)
    case .object, .vacant:
      contest.holder = .object(object)
      return
    }
    let survivor: NSManagedObject?
    if isStored, !type.storeTrumps {
      remove(contest.holder, for: object, clash)
      survivor = object
    } else {
      survivor = resolve(clash, by: type)
    }
    if let survivor, survivor !== object { heirs[ObjectIdentifier(object)] = survivor }
    // A row stays the holder when an object became its own.
    if let row = clash.stored, survivor === context.registry.object(root: row.batch.layout.root, key: row.key)
    {
      return
    }
    contest.holder = survivor.map(Contest.Holder.object) ?? .vacant
  }

  /// Removes the one who has the values that an object takes.
  private func remove(_ holder: Contest.Holder, for object: NSManagedObject, _ clash: UniquenessClash) {
    switch holder {
    case .vacant: break
    case .row(let row): context.delete(self.object(for: row))
    case .object(let other):
      if other.isInserted {
        replace(other, by: object, clash, values: .none)
      } else {
        context.delete(other)
      }
    }
  }
}

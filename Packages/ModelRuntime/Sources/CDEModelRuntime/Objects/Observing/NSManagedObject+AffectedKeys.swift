@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
internal import CDEStore
internal import Foundation

// Which properties of the model affect a key that a class computes, or the end of a path of keys.
extension NSManagedObject {
  /// Observers of all properties that affect the end of a path.
  ///
  /// Traps for a path that leads nowhere, or over a to-many relationship, as Core Data raises an exception.
  final func links(along keys: [String], affecting observer: KeyObserver) -> [KeyLink] {
    var walk = KeyWalk(observer: observer, root: self)
    walk.follow(keys[...], on: self, leadsOn: false)
    observer.root = self
    return walk.links
  }

  /// What tells whether a property has another value: IDs in place of objects, so that an observer retains none.
  final func identityValue(_ slot: SlotIndex) -> Any? {
    let info = _binding.properties[slot]
    switch info.kind {
    case .toOne: return toOne(slot)?.objectID
    case .toMany(let isOrdered):
      let ids = loadedMembers(slot).objects.map(\.objectID)
      return isOrdered ? ids as Any : Set(ids)
    case .attribute, .composite: return anyValue(info)
    }
  }

  /// Whether key-value coding reads a key that is no property of the model.
  final func computes(_ key: String) -> Bool {
    _cdComputedValue(forKey: key) != nil
      || !Self.keyPathsForValuesAffectingValue(forKey: key).isEmpty
  }
}

/// A walk along a path of keys, over the keys that affect each of them.
private struct KeyWalk {
  let observer: KeyObserver
  let root: NSManagedObject
  private(set) var links: [KeyLink] = []
  /// Where the walk has been. Keys may affect each other, over several objects, too.
  private var visited: Set<Place> = []

  private struct Place: Hashable {
    let object: ObjectIdentifier
    let keys: ArraySlice<String>
    let leadsOn: Bool
  }

  init(observer: KeyObserver, root: NSManagedObject) {
    self.observer = observer
    self.root = root
  }

  /// - Parameter leadsOn: whether another object is at the end of the path when these keys change.
  mutating func follow(_ keys: ArraySlice<String>, on object: NSManagedObject, leadsOn: Bool) {
    guard let key = keys.first,
      visited.insert(Place(object: ObjectIdentifier(object), keys: keys, leadsOn: leadsOn)).inserted
    else { return }
    let rest = keys.dropFirst()
    let info = object._binding.property(key)
    let affecting = type(of: object).keyPathsForValuesAffectingValue(forKey: key)
    object.willAccess()
    // A key before others leads to another object when it changes.
    let isStep = leadsOn || !rest.isEmpty
    link(key, info?.slot, of: object, leadsOn: isStep)
    if let info {
      if !rest.isEmpty { follow(rest, behind: info, of: object, leadsOn: leadsOn) }
    } else {
      guard !affecting.isEmpty || object._cdComputedValue(forKey: key) != nil else { unknown(key, object) }
      if !rest.isEmpty, let next = object.value(forKey: key) as? NSManagedObject {
        follow(rest, on: next, leadsOn: leadsOn)
      }
    }
    for path in affecting.sorted() {
      follow(ArraySlice(path.components), on: object, leadsOn: isStep)
    }
  }

  private mutating func follow(
    _ rest: ArraySlice<String>, behind info: PropertyInfo, of object: NSManagedObject, leadsOn: Bool
  ) {
    switch info.kind {
    case .toOne:
      if let next = object.toOne(info.slot) { follow(rest, on: next, leadsOn: leadsOn) }
    case .composite:
      // An element changes with the composite.
      break
    case .attribute, .toMany:
      let what =
        info.isToMany ? "to-many relationship, and a path leads over to-one relationships alone" : "attribute"
      failPrecondition(
        "\(root._binding.name).\(observer.path) can't be observed: \(object._binding.name).\(info.name) is "
          + "\(info.isToMany ? "a" : "an") \(what). Observe \(info.name) itself.")
    }
  }

  private mutating func link(_ key: String, _ slot: SlotIndex?, of object: NSManagedObject, leadsOn: Bool) {
    let link = KeyObserver(key, slot: slot, affects: observer, leadsOn: leadsOn)
    link.last = link.value(of: object)
    object.add(link)
    // The observed object would retain itself by its entry in the table of observers.
    links.append(KeyLink(observer: link, object: object === root ? nil : object))
  }

  private func unknown(_ key: String, _ object: NSManagedObject) -> Never {
    let name = object._binding.name
    failPrecondition(
      "\(root._binding.name).\(observer.path) can't be observed: the model gives \(name) no property \(key), and its class "
        + "names no key paths that affect it. "
        + Spelling.hint(key, object._binding.properties.map(\.name), all: "The properties of \(name) are"))
  }
}

extension String {
  fileprivate var components: [String] {
    split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }
}

/// The observers that a change affects by links, each once, whichever of its keys have changed together.
struct AffectedObservers {
  private var list: [(observer: KeyObserver, leadsOn: Bool)] = []

  /// - Returns: whether the observer is a link.
  mutating func note(_ link: KeyObserver) -> Bool {
    guard let (observer, leadsOn) = link.affected else { return false }
    if let place = list.firstIndex(where: { $0.observer === observer }) {
      list[place].leadsOn = list[place].leadsOn || leadsOn
    } else {
      list.append((observer, leadsOn))
    }
    return true
  }

  /// Tells them, after the ends of paths that lead to other objects now have been found.
  func tell(ifDifferent: Bool) {
    for (observer, leadsOn) in list where observer.isActive {
      guard let root = observer.root, !root.isDeletedOrGone, root._registry?.context != nil else { continue }
      if leadsOn {
        observer.replaceLinks(
          by: root.links(along: observer.path.components, affecting: observer))
      }
      observer.tell(root, ifDifferent: ifDifferent)
    }
  }
}

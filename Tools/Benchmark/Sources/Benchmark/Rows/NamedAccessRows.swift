import CoreDataEvolution

/// Rows named: the accessors of rewritten `@NSManaged` properties beside those of the macro, on one saved object.
@MainActor
struct NamedAccessRows {
  private let store: OurStore
  private let link: Link
  private let targets: [Link]
  private let named: NamedLink
  private let namedTargets: [NamedLink]
  let repetitions: Int

  init(_ workspace: Workspace) throws {
    store = try workspace.oursCopy()
    let context = store.container.viewContext
    let links = (0..<3).map { _ in Link(context: context) }
    links[0].title = "A title of some length"
    links[0].count = 7
    links[0].next = links[1]
    let namedLinks = (0..<3).map { _ in NamedLink(context: context) }
    namedLinks[0].title = "A title of some length"
    namedLinks[0].count = 7
    namedLinks[0].next = namedLinks[1]
    try context.save()
    link = links[0]
    targets = [links[1], links[2]]
    named = namedLinks[0]
    namedTargets = [namedLinks[1], namedLinks[2]]
    repetitions = workspace.isSmoke ? 10_000 : 1_000_000
  }

  var textRead: [Contender] {
    let (link, named) = (link, named)
    return [time(.ours) { _ in named.title.utf8.count }, time(.reference) { _ in link.title.utf8.count }]
  }

  var textWrite: [Contender] {
    let (link, named) = (link, named)
    let texts = ["A title of some length", "Another title of some length"]
    return [
      time(.ours) {
        named.title = texts[$0 & 1]; return 0
      },
      time(.reference) {
        link.title = texts[$0 & 1]; return 0
      },
    ]
  }

  var numberRead: [Contender] {
    let (link, named) = (link, named)
    return [time(.ours) { _ in Int(named.count) }, time(.reference) { _ in Int(link.count) }]
  }

  var numberWrite: [Contender] {
    let (link, named) = (link, named)
    return [
      time(.ours) {
        named.count = Int64($0); return 0
      },
      time(.reference) {
        link.count = Int64($0); return 0
      },
    ]
  }

  var objectRead: [Contender] {
    let (link, named) = (link, named)
    return [
      time(.ours) { _ in named.next == nil ? 0 : 1 }, time(.reference) { _ in link.next == nil ? 0 : 1 },
    ]
  }

  var objectWrite: [Contender] {
    let (link, targets, named, namedTargets) = (link, targets, named, namedTargets)
    return [
      time(.ours) {
        named.next = namedTargets[$0 & 1]; return 0
      },
      time(.reference) {
        link.next = targets[$0 & 1]; return 0
      },
    ]
  }

  @inline(__always)
  private func time(_ side: Contender.Side, _ body: @escaping @MainActor (Int) -> Int) -> Contender {
    Contender(side) { [repetitions, store] in
      withExtendedLifetime(store) {
        nanoseconds {
          var sum = 0
          for number in 0..<repetitions { sum &+= body(number) }
          consume(sum)
        }
      }
    }
  }
}

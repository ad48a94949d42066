import Combine
import CoreData

public final class BookList: NSObject, ObservableObject, NSFetchedResultsControllerDelegate {
  @Published public private(set) var titles: [String] = []
  @Published public var onlyFavorites = false
  @Published public var text = ""

  private let controller: NSFetchedResultsController<Book>
  private var cancellables: Set<AnyCancellable> = []

  public init(context: NSManagedObjectContext) {
    let request = Book.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.title, ascending: true)]
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    super.init()
    controller.delegate = self
    Publishers.CombineLatest($onlyFavorites.removeDuplicates(), $text.removeDuplicates())
      .sink { [weak self] onlyFavorites, text in self?.reload(onlyFavorites, text) }
      .store(in: &cancellables)
  }

  private func reload(_ onlyFavorites: Bool, _ text: String) {
    var predicates: [NSPredicate] = []
    if onlyFavorites { predicates.append(NSPredicate(format: "%K == YES", #keyPath(Book.isFavorite))) }
    if !text.isEmpty { predicates.append(NSPredicate(format: "title CONTAINS[cd] %@", text)) }
    controller.fetchRequest.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
    try? controller.performFetch()
    titles = controller.fetchedObjects?.map(\.title) ?? []
  }

  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    titles = self.controller.fetchedObjects?.map(\.title) ?? []
  }
}

import CDESwiftData
import Observation
import Testing

@Model
class Movie {
  var title: String
  var year: Int
  var isFavourite = false

  init(title: String, year: Int) {
    self.title = title
    self.year = year
  }
}

@MainActor
@Observable
final class MoviesViewModel {
  private let context: ModelContext
  private(set) var movies: [Movie] = []
  var searchText = "" { didSet { reload() } }

  init(context: ModelContext) {
    self.context = context
    reload()
  }

  func add(_ title: String, _ year: Int) {
    context.insert(Movie(title: title, year: year))
    reload()
  }

  func delete(at offsets: IndexSet) {
    for index in offsets { context.delete(movies[index]) }
    reload()
  }

  func reload() {
    let text = searchText
    let predicate =
      text.isEmpty ? #Predicate<Movie> { _ in true } : #Predicate<Movie> { $0.title.contains(text) }
    let descriptor = FetchDescriptor(
      predicate: predicate, sortBy: [SortDescriptor(\.year), SortDescriptor(\.title)])
    movies = (try? context.fetch(descriptor)) ?? []
  }
}

@MainActor
@Suite("Unit tests of a view model")
struct ViewModelProgram {
  static var preview: ModelContainer {
    get throws {
      let container = try ModelContainer(
        for: Movie.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
      container.mainContext.insert(Movie(title: "Metropolis", year: 1927))
      container.mainContext.insert(Movie(title: "M", year: 1931))
      return container
    }
  }

  @Test("Movies are added, searched and deleted", arguments: 0..<8)
  func movies(_: Int) throws {
    let container = try Self.preview
    let model = MoviesViewModel(context: container.mainContext)
    #expect(model.movies.map(\.title) == ["Metropolis", "M"])
    model.add("Nosferatu", 1922)
    #expect(model.movies.map(\.year) == [1922, 1927, 1931])
    model.searchText = "M"
    #expect(model.movies.count == 2)
    model.delete(at: [0])
    #expect(model.movies.map(\.title) == ["M"])
    model.searchText = ""
    #expect(model.movies.map(\.title) == ["Nosferatu", "M"])
    #expect(container.mainContext.autosaveEnabled)
    try container.mainContext.save()
    #expect(!container.mainContext.hasChanges)
  }
}

public import CoreDataEvolution

// Models for other modules: one set that any package may use, one of this package's own.

public enum Kind: String, Sendable { case novel, manual }

@Composition
public struct Pages: Equatable, Sendable {
  public var first: Int
  public var last: Int

  public init(first: Int, last: Int) {
    self.first = first
    self.last = last
  }
}

@PersistentModel
public final class Shelf: NSManagedObject {
  public var name: String = ""
  @Relationship(inverse: "shelf", deleteRule: .cascade) public var books: Set<Book>
}

@PersistentModel
public final class Book: NSManagedObject {
  public var title: String = ""
  @Attribute(storageMethod: .raw) public var kind: Kind = .novel
  @Attribute(storageMethod: .composition) public var pages: Pages?
  @Relationship(inverse: "books", deleteRule: .nullify) public var shelf: Shelf?
}

@PersistentModel
package final class Loan: NSManagedObject {
  package var days: Int = 0
  package var reader: String?
}

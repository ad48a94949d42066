import CoreData

@objc(Book)
public final class Book: NSManagedObject {
  @NSManaged public var title: String
  @NSManaged public var pages: Int32
  @NSManaged public var isFavorite: Bool
  @NSManaged public var author: Author?

  @nonobjc public class func fetchRequest() -> NSFetchRequest<Book> {
    NSFetchRequest<Book>(entityName: "Book")
  }

  public override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    key == "summary" ? ["title", "author.name"] : super.keyPathsForValuesAffectingValue(forKey: key)
  }

  @objc public dynamic var summary: String {
    guard let name = author?.name else { return title }
    return "\(title) by \(name)"
  }
}

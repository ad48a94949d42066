internal import Foundation

/// A list in an archive, which an archiver tells from other lists by identity.
///
/// Foundation hashes an array by its number of elements alone. An archiver keeps what it has written in a dictionary, so
/// each of many arrays of two parts would be compared with all others.
final class ArchivedList: NSArray {
  private let list: [NSObject]

  init(_ list: [NSObject]) {
    self.list = list
    super.init()
  }

  required init?(coder: NSCoder) { nil }

  required init(objects: UnsafePointer<AnyObject>?, count: Int) {
    list = (0..<count).compactMap { objects?[$0] as? NSObject }
    super.init()
  }

  required convenience init(arrayLiteral elements: Any...) {
    self.init(elements.compactMap { $0 as? NSObject })
  }

  override var count: Int { list.count }

  override func object(at index: Int) -> Any { list[index] }

  override var hash: Int { ObjectIdentifier(self).hashValue }

  override func isEqual(_ object: Any?) -> Bool { (object as AnyObject?) === self }

  override var classForCoder: AnyClass { NSArray.self }
}

public import Foundation
@_spi(CDE) internal import CDEExecutors

// The parts of UIKit's and AppKit's IndexPath that fetched results use. Foundation on Linux has an IndexPath without them.
extension IndexPath {
  /// Makes the path of a row of a section.
  public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

  /// Makes the path of an item of a section. The same path as `init(row:section:)`.
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  /// The section.
  ///
  /// - Precondition: the path has two indexes.
  public var section: Int {
    get { part(0) }
    set { self = IndexPath(row: row, section: newValue) }
  }

  /// The row in the section.
  ///
  /// - Precondition: the path has two indexes.
  public var row: Int {
    get { part(1) }
    set { self = IndexPath(row: newValue, section: section) }
  }

  /// The item in the section: the same as ``row``.
  ///
  /// - Precondition: the path has two indexes.
  public var item: Int {
    get { part(1) }
    set { row = newValue }
  }

  private func part(_ place: Int) -> Int {
    checkPrecondition(
      count == 2,
      "An IndexPath of fetched results has a section and a row, but this one has \(count) indexes. Make it with "
        + "IndexPath(row:section:).")
    return self[place]
  }
}

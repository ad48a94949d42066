//
//  Photo+CoreDataClass.swift
//  Trips
//

import CoreData
import Foundation

@objc(Photo)
public class Photo: NSManagedObject {

  private var cachedTitle: String?

  /// The caption, or the date when there is none.
  public var title: String {
    if let cachedTitle = cachedTitle { return cachedTitle }
    let title = caption ?? takenAt.map { "\(Int($0.timeIntervalSinceReferenceDate))" } ?? ""
    cachedTitle = title
    return title
  }

  override public func awakeFromInsert() {
    super.awakeFromInsert()
    id = UUID()
  }

  override public func didSave() {
    super.didSave()
    cachedTitle = nil
  }

  override public func didTurnIntoFault() {
    super.didTurnIntoFault()
    cachedTitle = nil
  }

  public func setData(_ data: Data) {
    self.data = data
    byteCount = Int64(data.count)
  }

}

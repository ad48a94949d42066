//
//  TaskItem+CoreDataClass.swift
//  Trips
//

import CoreData
import Foundation

@objc public enum TaskPriority: Int16 {
  case low
  case normal
  case high
}

@objc(TaskItem)
public class TaskItem: Item {

  override public var isComplete: Bool {
    return isDone
  }

  public func isOverdue(at date: Date = Date()) -> Bool {
    guard let dueDate = dueDate, !isDone else { return false }
    return dueDate < date
  }

  override public func awakeFromInsert() {
    super.awakeFromInsert()
    if title.isEmpty {
      setPrimitiveValue(
        NSLocalizedString("New task", comment: "Title of a new task"), forKey: #keyPath(title))
    }
  }

}

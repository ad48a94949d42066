//
//  TaskItem+CoreDataProperties.swift
//  Trips
//

import CoreData
import Foundation

extension TaskItem {

  @nonobjc public class func fetchRequest() -> NSFetchRequest<TaskItem> {
    return NSFetchRequest<TaskItem>(entityName: "TaskItem")
  }

  @NSManaged public var dueDate: Date?
  @NSManaged public var isDone: Bool
  @NSManaged public var priority: TaskPriority
  @NSManaged public var assignee: Person?

}

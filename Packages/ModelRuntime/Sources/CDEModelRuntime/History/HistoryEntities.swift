internal import CDEManagedModel

/// The entities of the history, which belong to no model.
enum HistoryEntities {
  static let transactionName = "Transaction"
  static let changeName = "Change"

  static let transaction = entity(
    transactionName,
    [
      ("author", .stringAttributeType), ("bundleID", .stringAttributeType),
      ("contextName", .stringAttributeType),
      ("processID", .stringAttributeType), ("storeID", .stringAttributeType),
      ("timestamp", .dateAttributeType),
      ("transactionNumber", .integer64AttributeType),
    ])

  static let change = entity(
    changeName,
    [
      ("changeID", .integer64AttributeType), ("changeType", .integer16AttributeType),
      ("changedEntity", .undefinedAttributeType), ("changedObjectID", .objectIDAttributeType),
    ])

  private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription
  {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = true
      attribute.isTransient = type == .objectIDAttributeType || type == .undefinedAttributeType
      return attribute
    }
    return entity
  }
}
